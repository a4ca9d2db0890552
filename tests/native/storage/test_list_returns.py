"""Lists without one change of the process among later ones."""

import pytest

from haproxy_native.commit.change import Member
from haproxy_native.errors import Conflict
from haproxy_native.runtime.maps import MapEntry
from haproxy_native.storage.list_returns import ENTRIES, MOST, entries_without, lines_without, pattern_without, whole

FILE = [MapEntry("a", "1"), MapEntry("b", "2"), MapEntry("c", "3")]


def entries(text: str) -> list[MapEntry]:
    return [MapEntry(*word.split("=")) for word in text.split()]


@pytest.mark.parametrize(
    ("now", "key", "old", "new", "left"),
    [
        ("a=1 b=9 c=3", "b", "2", "9", "a=1 b=2 c=3"),
        ("a=1 c=3", "b", "2", None, "a=1 b=2 c=3"),
        ("a=1", "b", "2", None, "a=1 b=2"),
        ("a=1 x=7", "y", "8", None, "a=1 x=7 y=8"),
        ("a=1 x=7", "x", None, "7", "a=1"),
        ("b=9 a=1 b=9", "b", "2", "9", "b=2 a=1 b=2"),
        ("a=1 b=2", "b", "2", "9", "a=1 b=2"),
        ("a=1", "x", None, "7", "a=1"),
    ],
)
def test_entries(now: str, key: str, old: str | None, new: str | None, left: str) -> None:
    assert entries_without("m", entries(now), Member(f"map/m/entry/{key}", "value", old, new), key, FILE) == entries(left)


@pytest.mark.parametrize(("now", "words"), [("a=1 b=5", "'5' by now, not '9'; to come back: '2'"), ("a=1", "gone by now, not '9'")])
def test_a_collision_shows_both_sides(now: str, words: str) -> None:
    with pytest.raises(Conflict, match=words):
        entries_without("m", entries(now), Member("map/m/entry/b", "value", "2", "9"), "b", FILE)


def test_whole_lists() -> None:
    change = whole("map/m", ["a 1", "b 2"], ["c 3"])
    assert (change.member, change.old, change.new) == (ENTRIES, ["a 1", "b 2"], ["c 3"])
    assert lines_without("m", ["c 3"], change) == lines_without("m", ["a 1", "b 2"], change) == ["a 1", "b 2"]
    with pytest.raises(Conflict, match="m has been changed since"):
        lines_without("m", ["c 4"], change)
    with pytest.raises(Conflict, match="which were not kept"):
        lines_without("m", [], whole("map/m", ["x" * (MOST + 1)], []))


def test_patterns() -> None:
    added, gone = Member("acl/a/entry/x", "pattern", None, "x"), Member("acl/a/entry/x", "pattern", "x", None)
    assert pattern_without("a", ["y", "x"], added) == pattern_without("a", ["y"], added) == ["y"]
    assert pattern_without("a", ["y"], gone) == pattern_without("a", ["y", "x"], gone) == ["y", "x"]
