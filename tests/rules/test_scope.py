"""Layers store what they know about a request in attributes of its `Exchange`, which mypy checks. A scope has only one key of our own."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.rules.sources import sources, tree

ASGI = {"client", "headers", "http_version", "method", "path", "query_string", "raw_path", "scheme", "server", "type"}
OURS = "EXCHANGE"


def keys(code: ast.AST) -> Iterator[str]:
    """Return the keys that code reads, sets or tests in a scope."""
    for node in ast.walk(code):
        match node:
            case ast.Subscript(value=owner, slice=key) if _is_scope(owner):
                yield _key(key)
            case ast.Call(func=ast.Attribute(value=owner, attr="get" | "pop" | "setdefault"), args=[key, *_]) if _is_scope(owner):
                yield _key(key)
            case ast.Call(func=ast.Attribute(value=owner, attr="update")) if _is_scope(owner):
                yield "update"
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[owner]) if _is_scope(owner):
                yield _key(key)


def _is_scope(owner: ast.expr) -> bool:
    return ast.unparse(owner).rpartition(".")[2] == "scope"


def _key(key: ast.expr) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else ast.unparse(key)


def test_a_scope_has_one_key_of_ours() -> None:
    found = {(str(path), key) for path in sources("app") for key in keys(tree(path))}
    assert {each for each in found if each[1] not in {*ASGI, OURS}} == set()
    assert any(key == OURS for _, key in found)


@pytest.mark.parametrize(
    "code",
    [
        "scope['author'] = by",
        "call.scope[HOOK]()",
        "scope.get('author')",
        "self.scope.pop('page', None)",
        "'page' in scope",
        "scope.update(page=1)",
    ],
)
def test_another_key_is_seen(code: str) -> None:
    assert set(keys(ast.parse(code))) - {*ASGI, OURS}


def test_the_library_names_no_call_of_http() -> None:
    """Errors of the library name operations, because its callers have no paths. The handlers add the call."""
    texts = ((path, node.value) for path in sources("native") for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))
    found = {(str(path), text) for path, text in texts if isinstance(text, str) and re.search(r"/v3/|/services/haproxy|[ (]\?\w+=", text)}
    assert found == set()
