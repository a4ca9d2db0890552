"""Generate docs/modules.md: every package and module with the first sentence of its docstring."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACES = ("app", "native", "openapi", "bench", "demo")
# One line says what all of them are.
GENERATED = "native/haproxy_native/models"
HEAD = """\
# Modules

Generated from the docstrings by `make generate`; do not edit. [architecture.md](architecture.md) explains how the modules work together.
"""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def page() -> str:
    return "\n".join([HEAD, *(line for place in PLACES for package in _packages(ROOT / place) for line in _section(package))])


def _packages(directory: Path) -> Iterator[Path]:
    yield from sorted(path.parent for path in directory.rglob("__init__.py"))


def _section(package: Path) -> Iterator[str]:
    name = package.relative_to(ROOT).as_posix()
    yield f"## `{name}`\n\n{_sentence(package / '__init__.py')}\n"
    modules = sorted(path for path in package.glob("*.py") if path.name != "__init__.py") if name != GENERATED else []
    if modules:
        yield "| module | |\n|---|---|"
        yield from (f"| `{path.name}` | {_sentence(path)} |" for path in modules)
        yield ""


def _sentence(path: Path) -> str:
    """The first of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(_SENTENCE_END.split(text.split("\n\n")[0])[0].split()).replace("|", "\\|")
