"""Every module has a noun of the domain as its name, and a docstring. Files and names in docstrings and comments exist."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.rules.sources import CHECKOUT, PACKAGES, lines, sources, tree

NO_NAMES = {"util", "utils", "misc", "helper", "helpers", "common", "base", "core", "tools"}
# The project stands alone: it names neither what it was written from nor the way it was written.
MODULE = re.compile(r"(?<![\w./])(?:[\w-]+/)*\w+\.py\b")
NO_WORDS = re.compile(r"\.\./shared|/work/shared|\bissue #?\d|\b[Ss]ub-?agent")
TEXTS = ("*.py", "*.md", "*.yaml", "*.toml", "Makefile", "*.service", "*.cfg", "*.yml")


def test_module_tells_its_idea() -> None:
    assert [path for path in sources() if lines(path) and not ast.get_docstring(tree(path))] == []


def test_no_module_is_a_drawer() -> None:
    assert [path for path in sources() if path.stem in NO_NAMES] == []


def test_the_project_stands_alone() -> None:
    parts = [path for path in CHECKOUT.iterdir() if not path.name.startswith(".")]
    files = [path for part in parts for pattern in TEXTS for path in (part.rglob(pattern) if part.is_dir() else [part])]
    named = [path for path in set(files) if NO_WORDS.search(path.read_text(errors="replace"))]
    assert [path for path in named if path != Path(__file__)] == []


def prose(path: Path) -> Iterator[str]:
    """Return the docstrings and comments of a file."""
    text = (CHECKOUT / path).read_text()
    yield from (token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT)
    holders = (
        node for node in ast.walk(tree(path)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )
    yield from (ast.get_docstring(node) or "" for node in holders)


def test_modules_that_prose_names_exist() -> None:
    there = [path.as_posix() for package in (*PACKAGES, "tests", "docs", "packaging") for path in (CHECKOUT / package).rglob("*.py")]
    suffixes = {
        "/".join(parts[place:]) for path in there for parts in [Path(path).relative_to(CHECKOUT).parts] for place in range(len(parts))
    }
    found = {path: set(MODULE.findall((CHECKOUT / path).read_text())) for path in (*sources(), *sources("tests"))}
    assert set().union(*found.values()) & {"check/check.py", "native/haproxy_native/check/check.py"}, "names are found at all"
    unknown = [path for path, names in found.items() if names - suffixes]
    named = {(str(path), name) for path in unknown for text in prose(path) for name in MODULE.findall(text)}
    assert sorted((path, name) for path, name in named if name not in suffixes) == []
