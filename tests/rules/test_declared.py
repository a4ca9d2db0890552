"""The effect of a request depends on its declaration, never on its path, its id or the name of its collection."""

import ast
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.sources import CHECKOUT, sources, tree

RULES = tomllib.loads(Path(__file__).with_name("declared.toml").read_text())
DOCUMENT = json.loads((CHECKOUT / "openapi/generated/dataplane.json").read_text())
# The generated module is exempt: its names are those of the document.
FILES = [path for path in sources("app") if path.parts[2] in ("api", "handlers") and path.name != "parameter_values.py"]
PATHS = {f"/{path.split('/')[1]}" for path in DOCUMENT["paths"]} - {"/"}
NAMES = set(DOCUMENT["x-resources"]) | {operation["operationId"] for item in DOCUMENT["paths"].values() for operation in item.values()}
# These members contain the name of the operation, so a test of such a member is a test of the name.
CALLED = ("path", "id", "declared")


def asked(root: ast.AST) -> Iterator[str]:
    """Return the attributes of an operation that the code reads and that contain its name."""
    for node in ast.walk(root):
        if isinstance(node, ast.Attribute) and node.attr in CALLED and ast.unparse(node.value).endswith("operation"):
            yield node.attr


def named(root: ast.AST) -> Iterator[str]:
    """Return the literals that name a path or a collection."""
    for node in ast.walk(root):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and is_name(node.value):
            yield node.value


def is_name(text: str) -> bool:
    below = text.removeprefix("/v3")
    return " " not in text and (text in NAMES or any(f"{below}/".startswith(f"{path}/") for path in PATHS))


def test_no_file_asks_what_an_operation_is_called() -> None:
    assert {f"{path}:{name}" for path in FILES for name in asked(tree(path))} == set(RULES["operation"])


def test_no_file_names_a_path_or_a_collection() -> None:
    assert {str(path): names for path in FILES if (names := sorted(named(tree(path))))} == RULES["literals"]


def test_the_lists_only_shrink() -> None:
    assert len(RULES["operation"]) + len(RULES["literals"]) <= RULES["at_most"]


@pytest.mark.parametrize(
    "text",
    [
        'call.operation.path.startswith("x")',
        'operation.id in ("getServer", 1)',
        'kinds[call.operation.path.split("/")[2]]',
        'call.operation.declared.get("x")',
    ],
)
def test_behaviour_by_name_is_seen(text: str) -> None:
    assert list(asked(ast.parse(text)))


@pytest.mark.parametrize("text", ['"/services/haproxy/runtime/"', '"/v3/sidecar"', 'x in ("servers", "binds")', 'x == "replaceGlobal"'])
def test_a_name_is_seen(text: str) -> None:
    assert list(named(ast.parse(text)))


@pytest.mark.parametrize("text", ['"/servicesome"', '"a text about servers"', '"/livez"', "call.operation.store", '"serversome"'])
def test_other_texts_are_not(text: str) -> None:
    assert not list(named(ast.parse(text)))
