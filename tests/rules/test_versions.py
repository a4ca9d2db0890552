"""Differences between versions of HAProxy are in quirks.py. No other module compares a version, or writes one as numbers."""

import ast
from pathlib import Path

import pytest

from tests.rules.sources import sources, tree

QUIRKS = Path("native/haproxy_native/quirks.py")
# This comparison only finds out whether the version is known.
CAPABILITIES = Path("native/haproxy_native/runtime/capabilities.py")
MAJOR, MINOR = range(1, 6), range(20)


def is_version(node: ast.AST) -> bool:
    """Return whether a node is a literal such as (2, 8)."""
    if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
        return False
    major, minor = (each.value if isinstance(each, ast.Constant) else None for each in node.elts)
    return type(major) is int and type(minor) is int and major in MAJOR and minor in MINOR


def is_of_haproxy(node: ast.AST) -> bool:
    """Return whether a node is the version of a worker: `....capabilities.version`, or `self.version` in the capabilities."""
    if not isinstance(node, ast.Attribute) or node.attr != "version":
        return False
    owner = node.value
    return (owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else "") == "capabilities"


def comparisons(root: ast.AST) -> list[int]:
    """Return the lines that compare a worker's version, compare with a literal version, or assign a literal version to a name."""
    found = []
    for node in ast.walk(root):
        compared = isinstance(node, ast.Compare) and any(is_version(each) or is_of_haproxy(each) for each in (node.left, *node.comparators))
        named = isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_version(node.value)
        if isinstance(node, ast.Compare | ast.Assign | ast.AnnAssign) and (compared or named):
            found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "text",
    ["capabilities.version < SINCE", "self.runtime.capabilities.version >= x", "version > (2, 8)", "SINCE = (3, 0)", "A: V = (2, 6)"],
)
def test_what_the_rule_sees(text: str) -> None:
    assert comparisons(ast.parse(text)) == [1]


@pytest.mark.parametrize("text", ["before.version < now.version", "NONE = (0, 0)", "size = (400, 300)", "version = 1"])
def test_what_it_leaves_alone(text: str) -> None:
    assert comparisons(ast.parse(text)) == []


def test_versions_are_compared_in_one_module() -> None:
    found = {str(path): lines for path in sources("app", "native") if (lines := comparisons(tree(path)))}
    assert set(found) == {str(QUIRKS)}
    own = [node for node in ast.walk(tree(CAPABILITIES)) if isinstance(node, ast.Compare) and "version" in ast.unparse(node)]
    assert [ast.unparse(node) for node in own] == ["self.version == UNKNOWN"]
