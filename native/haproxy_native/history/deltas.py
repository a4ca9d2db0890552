"""Differences between two contents of one file, as few bytes, in a few milliseconds for a megabyte. Pure.

What is equal is found by comparing slices. Where two lines differ, equal lines are looked for in a window behind them; only where there
are none the rest is compared line by line.
"""

import struct
import zlib
from collections.abc import Iterator

from haproxy_native.text.line_diff import changes

WINDOW = 8192
# So many equal lines say that the contents are in step again.
ANCHOR = 3
# Where bytes of the old content go, up to where, and how many come.
_HUNK = struct.Struct(">QQQ")
Hunk = tuple[int, int, bytes]


def delta(old: bytes, new: bytes) -> bytes:
    """What `applied` makes the new content of."""
    return zlib.compress(b"".join(_HUNK.pack(start, end, len(come)) + come for start, end, come in _hunks(old, new)), 1)


def differing(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return the lines of the old content that go, and those of the new one that come."""
    gone, come = list[bytes](), list[bytes]()
    for start, end, lines in _hunks(old, new):
        gone.append(old[start:end])
        come.append(lines)
    return b"".join(gone), b"".join(come)


def applied(old: bytes, difference: bytes) -> bytes:
    """The new content. Raises zlib.error, struct.error or ValueError for a difference that is damaged."""
    data, pieces, at, place = zlib.decompress(difference), list[bytes](), 0, 0
    while place < len(data):
        start, end, size = _HUNK.unpack_from(data, place)
        place += _HUNK.size
        if not at <= start <= end <= len(old) or place + size > len(data):
            raise ValueError("a difference that does not fit")
        pieces += (old[at:start], data[place : place + size])
        at, place = end, place + size
    return b"".join((*pieces, old[at:]))


def _hunks(old: bytes, new: bytes) -> Iterator[Hunk]:
    at = there = 0
    while True:
        same = _common(old, at, new, there)
        if at + same == len(old) and there + same == len(new):
            return
        same = max(old.rfind(b"\n", at, at + same) + 1 - at, 0)
        at, there = at + same, there + same
        if (step := _step(old[at : at + WINDOW], new[there : there + WINDOW])) is None:
            yield from _by_lines(old, at, new, there)
            return
        gone, come = step
        yield at, at + gone, new[there : there + come]
        at, there = at + gone, there + come


def _common(one: bytes, at: int, other: bytes, there: int) -> int:
    """How many bytes from two places on are equal. Ranges are compared where they are, far quicker than bytes: doubled, then halved."""
    most, low, high, view = min(len(one) - at, len(other) - there), 0, 64, memoryview(other)
    while high < most and one.startswith(view[there + low : there + high], at + low):
        low, high = high, 2 * high
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        same = one.startswith(view[there + low : there + middle], at + low)
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _step(old: bytes, new: bytes) -> tuple[int, int] | None:
    """How many bytes go and come before the next equal lines; None where there are none in the windows."""
    lines, others = old.splitlines(keepends=True), new.splitlines(keepends=True)
    places: dict[tuple[bytes, ...], int] = {}
    for place in range(len(others) - ANCHOR + 1):
        places.setdefault(tuple(others[place : place + ANCHOR]), place)
    equal = [
        (place + position, place, position)
        for place in range(len(lines) - ANCHOR + 1)
        if (position := places.get(tuple(lines[place : place + ANCHOR]))) is not None
    ]
    if not equal:
        return None
    # The nearest: sections are alike.
    _, place, position = min(equal)
    return sum(map(len, lines[:place])), sum(map(len, others[:position]))


def _by_lines(old: bytes, at: int, new: bytes, there: int) -> Iterator[Hunk]:
    lines, others = old[at:].splitlines(keepends=True), new[there:].splitlines(keepends=True)
    counted = 0
    for (first, last), (new_first, new_last) in changes(lines, others):
        at += sum(map(len, lines[counted:first]))
        size = sum(map(len, lines[first:last]))
        yield at, at + size, b"".join(others[new_first:new_last])
        at, counted = at + size, last
