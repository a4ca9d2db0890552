"""Three versions of an object as one."""

from typing import Any

import pytest

from dataplaneapi.ctl.commands.edit import ABSENT, merge

BASE = {"name": "a", "weight": 1, "port": 1, "check": {"inter": 1, "rise": 2}}


@pytest.mark.parametrize(
    ("mine", "theirs", "result"),
    [
        ({"weight": 5}, {"port": 7}, {"weight": 5, "port": 7}),
        ({"weight": 5}, {"weight": 5}, {"weight": 5}),
        ({"check": {"inter": 9, "rise": 2}}, {"check": {"inter": 1, "rise": 8}}, {"check": {"inter": 9, "rise": 8}}),
        ({"new": [1]}, {"other": 2}, {"new": [1], "other": 2}),
        ({"weight": ABSENT}, {"port": 7}, {"weight": ABSENT, "port": 7}),
    ],
)
def test_what_one_has_changed_is_taken(mine: dict[str, Any], theirs: dict[str, Any], result: dict[str, Any]) -> None:
    found, conflicts = merge(BASE, made(mine), made(theirs))
    assert (found, conflicts) == (made(result), [])


@pytest.mark.parametrize(
    ("mine", "theirs", "path", "values"),
    [
        ({"weight": 5}, {"weight": 6}, "weight", (5, 6)),
        ({"weight": ABSENT}, {"weight": 6}, "weight", (ABSENT, 6)),
        ({"check": {"inter": 5, "rise": 2}}, {"check": {"inter": 6, "rise": 2}}, "check.inter", (5, 6)),
        ({"list": [1]}, {"list": [2]}, "list", ([1], [2])),
    ],
)
def test_where_both_have_changed_it_mine_stands_and_is_named(mine: Any, theirs: Any, path: str, values: tuple[Any, Any]) -> None:
    found, conflicts = merge(BASE, made(mine), made(theirs))
    assert found == made(mine)
    assert conflicts == [(path, *values)]


def made(change: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**BASE, **change}.items() if value is not ABSENT}
