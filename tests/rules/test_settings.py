"""Every setting is read by the server, or has a reason in the table why it is not."""

import ast
from functools import cache

import pytest

from dataplaneapi.settings.table import table
from tests.rules.sources import sources, tree

TABLE = "app/dataplaneapi/settings/table.py"


@cache
def read() -> set[str]:
    """Return the attribute names that the server reads, by a dot or, for settings of https that replace others, by a text."""
    found = set()
    for path in sources("app"):
        for node in ast.walk(tree(path)) if str(path) != TABLE else ():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


ROWS = [(name, source.unused) for name, source, _ in table()]


@pytest.mark.parametrize(("name", "unused"), ROWS, ids=[name for name, _ in ROWS])
def test_a_setting_is_read_or_says_that_it_is_not(name: str, unused: str) -> None:
    assert (name in read()) is not bool(unused)
