"""Store the contents of files before and after each entry in a database.

Each content is stored only once. If the difference from the previous content of the file is much smaller, it is stored instead. The
algorithm is for two contents that hardly differ, and takes a few milliseconds for a megabyte. It finds equal ranges by comparing slices.
Where two lines differ, it searches the next equal lines in a window after them. If the window has none, it compares the rest by lines.
"""

import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from haproxy_native.errors import Missing, Unreadable
from haproxy_native.text.line_diff import changes

# How many contents to cache in memory: entries are usually read in order, and each content is a difference from the previous one.
RECENT = 4
_recent: dict[tuple[sqlite3.Connection, int], bytes] = {}
# A larger content (in bytes) is identified by the digest of its difference, if it has one: hashing all its bytes would take too long.
LARGE = 1 << 16
# After this many differences in a row, a content is stored whole, so that reading takes only a few milliseconds.
LONGEST_CHAIN = 100
TABLES = """\
CREATE TABLE content (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, base INTEGER, chain INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE held (entry INTEGER NOT NULL, path TEXT NOT NULL, before INTEGER, after INTEGER, PRIMARY KEY (entry, path));
CREATE INDEX held_path ON held (path, entry);
"""
_UNUSED = """\
WITH RECURSIVE used(id) AS (
    SELECT before FROM held WHERE before IS NOT NULL UNION SELECT after FROM held WHERE after IS NOT NULL
    UNION SELECT content.base FROM content JOIN used ON content.id = used.id WHERE content.base IS NOT NULL
) DELETE FROM content WHERE id NOT IN used"""


_NEWEST = """\
SELECT coalesce(after, before) FROM held WHERE path = ? AND coalesce(after, before) IS NOT NULL ORDER BY entry DESC LIMIT 1"""
# (id of a content, its bytes); (None, b"") if there is no content.
Known = tuple[int | None, bytes]


def add_contents(database: sqlite3.Connection, entry: int, path: str, before: bytes | None, after: bytes | None) -> None:
    """Store the contents of a file before and after an entry. None means that there was no file."""
    known, ids = _newest(database, path), list[int | None]()
    for data in (before, after):
        known = known if data is None else _put(database, data, known)
        ids.append(None if data is None else known[0])
    database.execute("INSERT INTO held VALUES (?, ?, ?, ?)", (entry, path, *ids))


def read_contents(database: sqlite3.Connection, entry: int, path: str) -> tuple[bytes | None, bytes | None]:
    """Return the contents of a file before and after an entry; None for no file. Raises Missing if they were deleted."""
    row = database.execute("SELECT before, after FROM held WHERE entry = ? AND path = ?", (entry, path)).fetchone()
    if row is None:
        raise Missing(f"the contents of {path} are no longer stored")
    before, after = (None if id_ is None else _get(database, id_) for id_ in row)
    return before, after


def delete_contents(database: sqlite3.Connection, below: int) -> None:
    """Delete the contents of the entries with lower ids than `below`, unless a later entry needs them."""
    database.execute("DELETE FROM held WHERE entry < ?", (below,))
    database.execute(_UNUSED)


def size(database: sqlite3.Connection) -> int:
    """Return the size of all contents in bytes, without other tables of the database."""
    return int(database.execute("SELECT total(length(data)) FROM content").fetchone()[0])


def _newest(database: sqlite3.Connection, path: str) -> Known:
    """Return the newest stored content of a file. It usually equals the content before the next change."""
    found = database.execute(_NEWEST, (path,)).fetchone()
    with suppress(Missing, sqlite3.DatabaseError):
        return (found[0], _get(database, found[0])) if found else (None, b"")
    return None, b""


def _put(database: sqlite3.Connection, data: bytes, former: Known) -> Known:
    """Store a content, unless it is stored already. Return (id, content). `former`: the previous content of the file."""
    base, before = former
    if base is not None and data == before:
        return base, data
    base, chain, packed = _difference(database, data, former)
    mark = _digest(data) if base is None or len(data) <= LARGE else _digest(b"%d %b" % (base, packed), b"difference")
    if found := database.execute("SELECT id FROM content WHERE digest = ?", (mark,)).fetchone():
        return int(found[0]), data
    row = (mark, base, chain, len(data), packed or zlib.compress(data, 6))
    added = database.execute("INSERT INTO content (digest, base, chain, size, data) VALUES (?, ?, ?, ?, ?)", row)
    id_ = int(added.lastrowid or 0)
    _recent.pop((database, former[0] or 0), None)
    _remember(database, id_, data)
    return id_, data


def _digest(data: bytes, of: bytes = b"") -> bytes:
    return blake2b(data, digest_size=20, person=of).digest()


def _difference(database: sqlite3.Connection, data: bytes, former: Known) -> tuple[int | None, int, bytes]:
    """Return (id of the base, number of differences in a row, difference); (None, 0, b"") if the content must be stored whole."""
    base, before = former
    if base is not None:
        chain = int(database.execute("SELECT chain FROM content WHERE id = ?", (base,)).fetchone()[0]) + 1
        if chain <= LONGEST_CHAIN and len(packed := delta(before, data)) <= len(data) // 4:
            return base, chain, packed
    return None, 0, b""


def _remember(database: sqlite3.Connection, id_: int, data: bytes) -> None:
    # SQLite reuses an id that was assigned in a transaction that was rolled back.
    _recent.pop((database, id_), None)
    _recent[database, id_] = data
    while len(_recent) > RECENT:
        del _recent[next(iter(_recent))]


def _get(database: sqlite3.Connection, id_: int) -> bytes:
    """Return a content. Raises Missing and sqlite3.DatabaseError."""
    differences, place, data = list[bytes](), id_, _recent.get((database, id_))
    try:
        while data is None:
            if (row := database.execute("SELECT base, data FROM content WHERE id = ?", (place,)).fetchone()) is None:
                raise Missing(f"content {place}")
            base, packed = row
            if base is None:
                data = zlib.decompress(packed)
            else:
                differences.append(packed)
                place, data = base, _recent.get((database, base))
        for difference in reversed(differences):
            data = applied(data, difference)
    except (zlib.error, struct.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"content {id_} is damaged: {error}") from error
    _remember(database, id_, data)
    return data


def read_file(path: Path) -> bytes | None:
    """Return the content of a file; None if it does not exist. Raises Unreadable."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error


WINDOW = 8192
# So many equal lines end a difference.
ANCHOR = 3
# Start and end of the removed bytes in the old content, and the number of added bytes, which follow.
_HUNK = struct.Struct(">QQQ")
Hunk = tuple[int, int, bytes]


def delta(old: bytes, new: bytes) -> bytes:
    """Return the difference from the old content to the new one, for `applied`."""
    return zlib.compress(b"".join(_HUNK.pack(start, end, len(added)) + added for start, end, added in _hunks(old, new)), 1)


def differing_lines(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return the removed lines of the old content and the added lines of the new one."""
    removed, added = list[bytes](), list[bytes]()
    for start, end, lines in _hunks(old, new):
        removed.append(old[start:end])
        added.append(lines)
    return b"".join(removed), b"".join(added)


def applied(old: bytes, difference: bytes) -> bytes:
    """Return the old content with a difference applied. Raises zlib.error, struct.error or ValueError for a damaged difference."""
    data, pieces, at, place = zlib.decompress(difference), list[bytes](), 0, 0
    while place < len(data):
        start, end, size = _HUNK.unpack_from(data, place)
        place += _HUNK.size
        if not at <= start <= end <= len(old) or place + size > len(data):
            raise ValueError("the difference does not fit")
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
        removed, added = step
        yield at, at + removed, new[there : there + added]
        at, there = at + removed, there + added


def _common(one: bytes, at: int, other: bytes, there: int) -> int:
    """Return the length of the common range, in bytes, that begins in `one` at `at` and in `other` at `there`."""
    # Double the range that is compared, then bisect: comparing slices is far faster than comparing bytes.
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
    """Return the number of bytes before the next equal lines in the old and in the new window; None if there are no equal lines."""
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
    # The nearest match, since sections are similar.
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
