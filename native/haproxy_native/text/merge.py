"""Three-way merges of texts by lines, and of other sequences. Pure."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from haproxy_native.text.line_diff import changes

Lines = Sequence[str]
Item = TypeVar("Item", bound=Hashable)
# Lines of the base from one place to another, and what stands there instead.
_Hunk = tuple[int, int, Sequence[Item]]


@dataclass(frozen=True)
class Collision(Exception):
    """Both sides have changed the same lines: what stood there, and what stands there now in either."""

    base: Sequence[Any]
    mine: Sequence[Any]
    theirs: Sequence[Any]


def merged(base: Sequence[Item], mine: Sequence[Item], theirs: Sequence[Item], *, both: bool = False) -> list[Item]:
    """Return the base with the changes of both; a change that both have made is one.

    `both`: of two insertions at one place that of `theirs` comes first. Without it they collide. Raises Collision.
    """
    result, at = list[Item](), 0
    for start, end, come in _in_order(base, _hunks(base, mine), _hunks(base, theirs), both=both):
        result += (*base[at:start], *come)
        at = end
    return [*result, *base[at:]]


def _in_order(base: Sequence[Item], mine: list[_Hunk[Item]], theirs: list[_Hunk[Item]], *, both: bool) -> Iterator[_Hunk[Item]]:
    while mine and theirs:
        one, other = mine[0], theirs[0]
        if one == other:
            yield mine.pop(0)
            theirs.pop(0)
        elif _is_before(other, one) or (both and one[:2] == other[:2] == (one[0], one[0])):
            yield theirs.pop(0)
        elif _is_before(one, other):
            yield mine.pop(0)
        else:
            start, end = min(one[0], other[0]), max(one[1], other[1])
            raise Collision(base[start:end], _side(base, one, start, end), _side(base, other, start, end))
    yield from mine or theirs


def _is_before(one: _Hunk[Item], other: _Hunk[Item]) -> bool:
    """Return whether a change ends where the other one starts, or before; two insertions at one place have no order."""
    return one[1] <= other[0] and not (one[0] == one[1] == other[0] == other[1])


def _side(base: Sequence[Item], hunk: _Hunk[Item], start: int, end: int) -> Sequence[Item]:
    return [*base[start : hunk[0]], *hunk[2], *base[hunk[1] : end]]


def _hunks(base: Sequence[Item], other: Sequence[Item]) -> list[_Hunk[Item]]:
    return [(*gone, other[slice(*come)]) for gone, come in changes(base, other)]
