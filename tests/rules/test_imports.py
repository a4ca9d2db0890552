"""The direction of dependency, which stands as data in imports.toml."""

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.sources import PACKAGES, module, sources, tree

RULES = tomllib.loads(Path(__file__).with_name("imports.toml").read_text())


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; of `from a import b` also `a.b`, which may be a module."""
    package = module(path) if path.name == "__init__.py" else module(path).rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def layer(name: str) -> str:
    fitting = [known for known in RULES["layers"] if f"{name}.".startswith(f"{known}.")]
    assert fitting, f"{name} belongs to no layer of imports.toml"
    return max(fitting, key=len)


def is_allowed(name: str, own: str) -> bool:
    root = name.split(".")[0]
    if root in PACKAGES:
        return layer(name) in (own, *RULES["layers"][own])
    if root in sys.stdlib_module_names:
        return root not in RULES["never"].get(own, ())
    return root in RULES["outside"].get(own, ())


@pytest.mark.parametrize("path", sources("app", "native"), ids=str)
def test_imports_go_one_way(path: Path) -> None:
    own = layer(module(path))
    assert [name for name in imported(path) if not is_allowed(name, own)] == [], f"{own} may not import these"


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("dataplaneapi.api.errors", "haproxy_native.config"),
        ("haproxy_native.grammar.load", "haproxy_native.text"),
        ("fastapi.FastAPI", "haproxy_native.apply"),
        ("subprocess.run", "haproxy_native.text"),
        ("haproxy_native.text.words", "dataplaneapi.handlers"),
        ("requests", "app"),
    ],
)
def test_a_wrong_import_is_seen(name: str, own: str) -> None:
    assert not is_allowed(name, own)
