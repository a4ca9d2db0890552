"""A rehearsal ends at the first change, or has looked at each of several."""

import pytest

from haproxy_native.rehearsal import Rehearsal, Rehearsed, several, wanted, would_change


def test_changes_that_are_to_be_made() -> None:
    would_change()
    with several():
        would_change(reloads=True)


@pytest.mark.parametrize("reloads", [None, False, True])
def test_the_first_change(reloads: bool | None) -> None:
    token = wanted.set(rehearsal := Rehearsal())
    try:
        with pytest.raises(Rehearsed):
            would_change(reloads)
    finally:
        wanted.reset(token)
    assert rehearsal.reloads is reloads


def test_several_changes() -> None:
    token, seen = wanted.set(rehearsal := Rehearsal()), []
    try:
        with pytest.raises(Rehearsed), several():
            seen += [(would_change(reloads), reloads)[1] for reloads in (False, True, None)]
        with pytest.raises(ZeroDivisionError), several():
            raise ZeroDivisionError
        with pytest.raises(Rehearsed):
            would_change()
    finally:
        wanted.reset(token)
    assert seen == [False, True, None] and rehearsal.reloads is True
