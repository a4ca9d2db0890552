"""Unified differences of texts by lines, in linear time.

`difflib` takes minutes for a hundred thousand lines. Lines that stand once in both texts are found first, those in the same order are
kept, and `difflib` compares what stands between; where even that is too much, all of it goes and comes.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher

from haproxy_native.text.pieces import apart

CONTEXT = 3
_UNENDED = "\n\\ No newline at end of file\n"
# Pairs of lines that `difflib` may compare in one difference: a second of work at the most.
MOST_PAIRS = 1 << 20
_MANY = 1 << 14
Lines = Sequence[str]
# Lines of the old text from a place on are those of the new one from another on, so many.
Same = tuple[int, int, int]
Range = tuple[int, int]


def unified(old: Lines, new: Lines, before: str, after: str) -> Iterator[str]:
    """The lines of the difference; nothing where there is none. `before` and `after` name the two."""
    for number, hunk in enumerate(_hunks(changes(old, new))):
        if number == 0:
            yield f"--- {before}\n"
            yield f"+++ {after}\n"
        yield from _written(old, new, hunk)


def _written(old: Lines, new: Lines, hunk: list[tuple[Range, Range]]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    lead = min(CONTEXT, first[0][0])
    tail = min(CONTEXT, len(old) - last[0][1])
    gone, come = (first[0][0] - lead, last[0][1] + tail), (first[1][0] - lead, last[1][1] + tail)
    yield f"@@ -{_place(gone)} +{_place(come)} @@\n"
    at = gone[0]
    for (start, end), (new_start, new_end) in hunk:
        yield from _marked(" ", old[at:start])
        yield from _marked("-", old[start:end])
        yield from _marked("+", new[new_start:new_end])
        at = end
    yield from _marked(" ", old[at : gone[1]])


def _marked(sign: str, lines: Lines) -> Iterator[str]:
    return (f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}{_UNENDED}" for line in lines)


def _place(lines: Range) -> str:
    """Returns a range as `diff` writes it: an empty one by the line before it."""
    start, count = lines[0], lines[1] - lines[0]
    return f"{start + 1}" if count == 1 else f"{start + bool(count)},{count}"


def _hunks(changes: Iterator[tuple[Range, Range]]) -> Iterator[list[tuple[Range, Range]]]:
    """Changes whose contexts touch stand together."""
    hunk: list[tuple[Range, Range]] = []
    for change in changes:
        if hunk and change[0][0] - hunk[-1][0][1] > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def changes(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[Range, Range]]:
    """(what goes, what comes) of any two sequences, in order; what lies between two changes is equal."""
    at, there = 0, 0
    for place, new_place, size in [*_same(old, new), (len(old), len(new), 0)]:
        if (at, there) != (place, new_place):
            yield (at, place), (there, new_place)
        at, there = place + size, new_place + size


def _same(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[Same]:
    """What stays, in order."""
    left = MOST_PAIRS
    for gone, come in _gaps(old, new):
        before, after = old[slice(*gone)], new[slice(*come)]
        mine, theirs = apart(before, after)
        head, tail = mine.start, len(before) - mine.stop
        yield gone[0], come[0], head
        before, after = before[mine], after[theirs]
        left -= (pairs := len(before) * len(after))
        if pairs and left >= 0:
            blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
            yield from ((gone[0] + head + one, come[0] + head + other, size) for one, other, size in blocks)
        yield gone[1] - tail, come[1] - tail, tail


def _gaps(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[Range, Range]]:
    """What is to be compared: everything where that is little, else what lies before, between and behind the lines that tell the place."""
    at = there = 0
    gone, come = apart(old, new)
    if (gone.stop - gone.start) * (come.stop - come.start) > MOST_PAIRS:
        for place, new_place in _in_order(_unique(old, new)):
            yield (at, place), (there, new_place)
            at, there = place, new_place
    yield (at, len(old)), (there, len(new))


def _unique(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The places of lines that stand once in each."""
    counts, new_counts, places = _counted(old), _counted(new), {line: place for place, line in enumerate(new)}
    return [(place, places[line]) for place, line in enumerate(old) if counts[line] == new_counts[line] == 1]


def _counted(lines: Sequence[Hashable]) -> Counter[Hashable]:
    """How often each stands there; counted in pieces, so that other threads can run."""
    counts = Counter[Hashable]()
    for start in range(0, len(lines), _MANY):
        counts.update(lines[start : start + _MANY])
    return counts


def _in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of them in which both numbers rise."""
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
