"""Compute unified diffs and three-way merges of texts by lines, in linear time.

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
    """Yield the lines of a unified diff; no lines if the texts are equal. `before` and `after`: the names of the two texts in the diff."""
    for number, hunk in enumerate(_hunks(changes(old, new))):
        if number == 0:
            yield f"--- {before}\n"
            yield f"+++ {after}\n"
        first, last = hunk[0], hunk[-1]
        lead = min(CONTEXT, first[0][0])
        tail = min(CONTEXT, len(old) - last[0][1])
        removed, added = (first[0][0] - lead, last[0][1] + tail), (first[1][0] - lead, last[1][1] + tail)
        yield f"@@ -{_hunk_range(removed)} +{_hunk_range(added)} @@\n"
        at = removed[0]
        for (start, end), (new_start, new_end) in hunk:
            yield from _marked(" ", old[at:start])
            yield from _marked("-", old[start:end])
            yield from _marked("+", new[new_start:new_end])
            at = end
        yield from _marked(" ", old[at : removed[1]])


def _marked(sign: str, lines: Lines) -> Iterator[str]:
    return (f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}{_UNENDED}" for line in lines)


def _hunk_range(lines: Range) -> str:
    """Format a range of lines for the header of a hunk. An empty range has the number of the line before it."""
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
    at, new_at = 0, 0
    for start, new_start, size in [*_equal_ranges(old, new), (len(old), len(new), 0)]:
        if (at, new_at) != (start, new_start):
            yield (at, start), (new_at, new_start)
        at, new_at = start + size, new_start + size


def _equal_ranges(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Same]:
    """Yield (start in `old`, start in `new`, length) of each range that is equal in both sequences, in order. A length may be 0."""
    left = MOST_PAIRS
    for removed, added in _ranges_to_compare(old, new):
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


def _ranges_to_compare(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[Range, Range]]:
    """Divide two sequences, and yield (range in `old`, range in `new`) of each pair of ranges to compare with `difflib`.

    Short sequences are not divided. Long sequences are divided at the lines that are unique in both sequences.
    """
    at = new_at = 0
    removed, added = apart(old, new)
    if (removed.stop - removed.start) * (added.stop - added.start) > MOST_PAIRS:
        counts, new_counts = _count_lines(old), _count_lines(new)
        new_indices = {line: index for index, line in enumerate(new)}
        unique = [(index, new_indices[line]) for index, line in enumerate(old) if counts[line] == new_counts[line] == 1]
        for index, new_index in _longest_ordered(unique):
            yield (at, index), (new_at, new_index)
            at, new_at = index, new_index
    yield (at, len(old)), (new_at, len(new))


def _count_lines(lines: Sequence[Hashable]) -> Counter[Hashable]:
    """Count the occurrences of each line. Long texts are counted in pieces, so that other threads can run."""
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
    my_hunks, their_hunks, ordered = _hunks_from(base, mine), _hunks_from(base, theirs), list[_Hunk[Item]]()
    while my_hunks and their_hunks:
        one, other = my_hunks[0], their_hunks[0]
        if one == other:
            ordered.append(my_hunks.pop(0))
            their_hunks.pop(0)
        elif _is_before(other, one) or (both and one[:2] == other[:2] == (one[0], one[0])):
            ordered.append(their_hunks.pop(0))
        elif _is_before(one, other):
            ordered.append(my_hunks.pop(0))
        else:
            start, end = min(one[0], other[0]), max(one[1], other[1])
            raise Collision(base[start:end], _side(base, one, start, end), _side(base, other, start, end))
    result, at = list[Item](), 0
    for start, end, lines in [*ordered, *my_hunks, *their_hunks]:
        result += (*base[at:start], *lines)
        at = end
    return [*result, *base[at:]]


def _is_before(one: _Hunk[Item], other: _Hunk[Item]) -> bool:
    """Return whether `one` ends before `other` starts. False for two insertions at the same index, which have no order."""
    return one[1] <= other[0] and not (one[0] == one[1] == other[0] == other[1])


def _side(base: Sequence[Item], hunk: _Hunk[Item], start: int, end: int) -> Sequence[Item]:
    return [*base[start : hunk[0]], *hunk[2], *base[hunk[1] : end]]


def _hunks_from(base: Sequence[Item], other: Sequence[Item]) -> list[_Hunk[Item]]:
    return [(*removed, other[slice(*added)]) for removed, added in changes(base, other)]
