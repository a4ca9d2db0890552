"""Compute unified diffs and three-way merges of texts by lines, in linear time. Pure.

`difflib` alone needs minutes for a hundred thousand lines. So the texts are first divided at lines that are unique in both texts and in the
same order (as in a patience diff), and `difflib` compares the ranges between these lines. Ranges that are still too long for `difflib` are
reported as changed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, TypeVar

from haproxy_native.text.pieces import apart

CONTEXT = 3
_UNENDED = "\n\\ No newline at end of file\n"
# How many pairs of lines `difflib` may compare in one diff: a second of work at most.
MOST_PAIRS = 1 << 20
_MANY = 1 << 14
Lines = Sequence[str]
# (index in the old text, index in the new one, number of equal lines)
Same = tuple[int, int, int]
Range = tuple[int, int]


def unified(old: Lines, new: Lines, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff; none if the texts are equal. `before` and `after`: the names of the texts in the diff."""
    for number, hunk in enumerate(_hunks(changes(old, new))):
        if number == 0:
            yield f"--- {before}\n"
            yield f"+++ {after}\n"
        yield from _written(old, new, hunk)


def _written(old: Lines, new: Lines, hunk: list[tuple[Range, Range]]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(CONTEXT, first[0][0])
    tail = min(CONTEXT, len(old) - last[0][1])
    removed, added = (first[0][0] - lead, last[0][1] + tail), (first[1][0] - lead, last[1][1] + tail)
    yield f"@@ -{_place(removed)} +{_place(added)} @@\n"
    at = removed[0]
    for (start, end), (new_start, new_end) in hunk:
        yield from _marked(" ", old[at:start])
        yield from _marked("-", old[start:end])
        yield from _marked("+", new[new_start:new_end])
        at = end
    yield from _marked(" ", old[at : removed[1]])


def _marked(sign: str, lines: Lines) -> Iterator[str]:
    return (f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}{_UNENDED}" for line in lines)


def _place(lines: Range) -> str:
    """Return a range of lines in the notation of `diff`, which gives an empty range the number of the line before it."""
    start, count = lines[0], lines[1] - lines[0]
    return f"{start + 1}" if count == 1 else f"{start + bool(count)},{count}"


def _hunks(changes: Iterator[tuple[Range, Range]]) -> Iterator[list[tuple[Range, Range]]]:
    """Yield groups of changes whose context lines overlap or are adjacent."""
    hunk: list[tuple[Range, Range]] = []
    for change in changes:
        if hunk and change[0][0] - hunk[-1][0][1] > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[Range, Range]]:
    """Yield (removed range, added range) of each difference between two sequences, in order."""
    at, there = 0, 0
    for place, new_place, size in [*_same(old, new), (len(old), len(new), 0)]:
        if (at, there) != (place, new_place):
            yield (at, place), (there, new_place)
        at, there = place + size, new_place + size


def _same(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Same]:
    """Yield (start in `old`, start in `new`, length) of each range that is equal in both, in order."""
    left = MOST_PAIRS
    for removed, added in _gaps(old, new):
        before, after = old[slice(*removed)], new[slice(*added)]
        mine, theirs = apart(before, after)
        head, tail = mine.start, len(before) - mine.stop
        yield removed[0], added[0], head
        before, after = before[mine], after[theirs]
        left -= (pairs := len(before) * len(after))
        if pairs and left >= 0:
            blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
            yield from ((removed[0] + head + one, added[0] + head + other, size) for one, other, size in blocks)
        yield removed[1] - tail, added[1] - tail, tail


def _gaps(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[Range, Range]]:
    """Yield the pairs of ranges to compare: everything or, if that is too much, the ranges between lines that are unique in both texts."""
    at = there = 0
    removed, added = apart(old, new)
    if (removed.stop - removed.start) * (added.stop - added.start) > MOST_PAIRS:
        for place, new_place in _longest_ordered(_unique(old, new)):
            yield (at, place), (there, new_place)
            at, there = place, new_place
    yield (at, len(old)), (there, len(new))


def _unique(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return (index in the old text, index in the new text) of each line that is unique in both."""
    counts, new_counts, places = _counted(old), _counted(new), {line: place for place, line in enumerate(new)}
    return [(place, places[line]) for place, line in enumerate(old) if counts[line] == new_counts[line] == 1]


def _counted(lines: Sequence[Hashable]) -> Counter[Hashable]:
    """Count the occurrences of each line, in pieces so that other threads can run."""
    counts = Counter[Hashable]()
    for start in range(0, len(lines), _MANY):
        counts.update(lines[start : start + _MANY])
    return counts


def _longest_ordered(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of the pairs in which both indices increase."""
    ends: list[int] = []
    longest: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        ends[length : length + 1], longest[length : length + 1] = [place], [index]
        before.append(longest[length - 1] if length else -1)
    ordered, index = [], longest[-1] if longest else -1
    while index >= 0:
        ordered.append(pairs[index])
        index = before[index]
    return ordered[::-1]


Item = TypeVar("Item", bound=Hashable)
# (start and end in the base, the lines that replace the range)
_Hunk = tuple[int, int, Sequence[Item]]


@dataclass(frozen=True)
class Collision(Exception):
    """Both sides have changed the same lines of the base in different ways."""

    base: Sequence[Any]
    mine: Sequence[Any]
    theirs: Sequence[Any]


def merged(base: Sequence[Item], mine: Sequence[Item], theirs: Sequence[Item], *, both: bool = False) -> list[Item]:
    """Return the base with the changes of both sides. A change that both sides have made is applied once. Raises Collision.

    `both`: if both sides have inserted different lines at one index, insert those of `theirs` and then those of `mine`. Otherwise this is a
    collision.
    """
    result, at = list[Item](), 0
    for start, end, lines in _in_order(base, _replacements(base, mine), _replacements(base, theirs), both=both):
        result += (*base[at:start], *lines)
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
    """Return whether `one` ends before `other` starts. False for two insertions at the same index, which have no order."""
    return one[1] <= other[0] and not (one[0] == one[1] == other[0] == other[1])


def _side(base: Sequence[Item], hunk: _Hunk[Item], start: int, end: int) -> Sequence[Item]:
    return [*base[start : hunk[0]], *hunk[2], *base[hunk[1] : end]]


def _replacements(base: Sequence[Item], other: Sequence[Item]) -> list[_Hunk[Item]]:
    return [(*removed, other[slice(*added)]) for removed, added in changes(base, other)]
