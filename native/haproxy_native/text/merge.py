"""Three-way merges of texts by lines. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haproxy_native.text.line_diff import changes

Lines = Sequence[str]
# Lines of the base from one place to another, and what stands there instead.
_Hunk = tuple[int, int, Lines]


@dataclass(frozen=True)
class Collision(Exception):
    """Both sides have changed the same lines: what stood there, and what stands there now in either."""

    base: Lines
    mine: Lines
    theirs: Lines


def merged(base: Lines, mine: Lines, theirs: Lines) -> list[str]:
    """The base with the changes of both. Raises Collision; a change that both have made is one."""
    result, at = list[str](), 0
    for start, end, come in _in_order(base, _hunks(base, mine), _hunks(base, theirs)):
        result += (*base[at:start], *come)
        at = end
    return [*result, *base[at:]]


def _in_order(base: Lines, mine: list[_Hunk], theirs: list[_Hunk]) -> Iterator[_Hunk]:
    while mine and theirs:
        one, other = mine[0], theirs[0]
        if one == other:
            yield mine.pop(0)
            theirs.pop(0)
        elif _is_before(one, other):
            yield mine.pop(0)
        elif _is_before(other, one):
            yield theirs.pop(0)
        else:
            start, end = min(one[0], other[0]), max(one[1], other[1])
            raise Collision(base[start:end], _side(base, one, start, end), _side(base, other, start, end))
    yield from mine or theirs


def _is_before(one: _Hunk, other: _Hunk) -> bool:
    """Two insertions at one place have no order."""
    return one[1] <= other[0] and not (one[0] == one[1] == other[0] == other[1])


def _side(base: Lines, hunk: _Hunk, start: int, end: int) -> Lines:
    return [*base[start : hunk[0]], *hunk[2], *base[hunk[1] : end]]


def _hunks(base: Lines, other: Lines) -> list[_Hunk]:
    return [(*gone, other[slice(*come)]) for gone, come in changes(base, other)]
