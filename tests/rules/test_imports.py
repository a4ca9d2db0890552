"""Imports have the directions that imports.toml permits."""

import ast
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.rules.sources import OURS, module, sources, tree

RULES = tomllib.loads(Path(__file__).with_name("imports.toml").read_text())


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Return every module that a file imports anywhere. For `from a import b`, return `a.b` as well, which may be a module."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
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
    if root in OURS:
        return layer(name) in (own, *RULES["layers"][own])
    if root in sys.stdlib_module_names:
        return root not in RULES["never"].get(own, ())
    return root in RULES["outside"].get(own, ())


def test_imports_go_one_way() -> None:
    forbidden = dict[str, list[str]]()
    for path in sources("app", "native"):
        own = layer(module(path))
        if found := [name for name in imported(path) if not is_allowed(name, own)]:
            forbidden[f"{path}, of {own}"] = found
    assert forbidden == {}


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("dataplaneapi.api.errors", "haproxy_native.editing"),
        ("haproxy_native.grammar.load", "haproxy_native.text"),
        ("fastapi.FastAPI", "haproxy_native.commit"),
        ("subprocess.run", "haproxy_native.text"),
        ("haproxy_native.text.words", "dataplaneapi.handlers"),
        ("requests", "dataplaneapi"),
    ],
)
def test_a_wrong_import_is_seen(name: str, own: str) -> None:
    assert not is_allowed(name, own)


def test_there_is_no_circle() -> None:
    listed: list[str] = []
    for name, allowed in RULES["layers"].items():
        assert set(allowed) <= set(listed), f"{name} may import a layer that stands below it"
        listed.append(name)


def test_no_modules_import_each_other() -> None:
    """Imports for types count as well. Two modules that need each other must be merged, or get a third module."""
    files = {module(path): path for path in sources("app", "native")}
    left = {name: {_known(each, files) for each in imported(path)} - {name} for name, path in files.items()}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left


def _known(name: str, files: Mapping[str, Path]) -> str:
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name
