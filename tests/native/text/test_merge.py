import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from haproxy_native.text.line_diff import Collision, merged

LINES = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(LINES, LINES)
def test_a_change_of_one_side_is_made(base: list[str], changed: list[str]) -> None:
    assert merged(base, changed, base) == merged(base, base, changed) == merged(base, changed, changed) == changed


@given(LINES, LINES, LINES)
def test_no_side_comes_first(base: list[str], mine: list[str], theirs: list[str]) -> None:
    try:
        result = merged(base, mine, theirs)
    except Collision:
        with pytest.raises(Collision):
            merged(base, theirs, mine)
        return
    assert merged(base, theirs, mine) == result


def test_changes_beside_each_other() -> None:
    assert merged(["a", "b", "c"], ["a", "b", "new", "c"], ["a", "c"]) == ["a", "new", "c"]
    assert merged(["a", "b"], ["x", "b"], ["a", "y"]) == ["x", "y"]


def test_a_collision_shows_both_sides() -> None:
    with pytest.raises(Collision) as raised:
        merged(["a", "b", "c"], ["a", "x", "c"], ["a", "y", "c"])
    collision = raised.value
    assert (collision.base, collision.mine, collision.theirs) == (["b"], ["x"], ["y"])
    with pytest.raises(Collision):
        merged(["a"], ["a", "x"], ["a", "y"])


@given(LINES, LINES)
def test_what_both_have_done_is_done_once(base: list[str], changed: list[str]) -> None:
    assume(base != changed)
    assert merged(base, changed, changed) == changed
