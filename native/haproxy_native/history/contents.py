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
StoredContent = tuple[int | None, bytes]


def add_contents(database: sqlite3.Connection, entry: int, path: str, before: bytes | None, after: bytes | None) -> None:
    """Store the contents of a file before and after an entry. None means that there was no file."""
    # The newest stored content of the file usually equals the content before the next change.
    row = database.execute(_NEWEST, (path,)).fetchone()
    former: StoredContent = None, b""
    with suppress(Missing, sqlite3.DatabaseError):
        former = (row[0], _read(database, row[0])) if row else former
    ids = list[int | None]()
    for data in (before, after):
        former = former if data is None else _store(database, data, former)
        ids.append(None if data is None else former[0])
    database.execute("INSERT INTO held VALUES (?, ?, ?, ?)", (entry, path, *ids))


def read_contents(database: sqlite3.Connection, entry: int, path: str) -> tuple[bytes | None, bytes | None]:
    """Return the contents of a file before and after an entry; None for no file. Raises Missing if they were deleted."""
    row = database.execute("SELECT before, after FROM held WHERE entry = ? AND path = ?", (entry, path)).fetchone()
    if row is None:
        raise Missing(f"the contents of {path} are no longer stored")
    before, after = (None if id_ is None else _read(database, id_) for id_ in row)
    return before, after


def delete_contents(database: sqlite3.Connection, below: int) -> None:
    """Delete the contents of the entries with lower ids than `below`, unless a later entry needs them."""
    database.execute("DELETE FROM held WHERE entry < ?", (below,))
    database.execute(_UNUSED)


def size(database: sqlite3.Connection) -> int:
    """Return the size of all contents in bytes, without other tables of the database."""
    return int(database.execute("SELECT total(length(data)) FROM content").fetchone()[0])


def _store(database: sqlite3.Connection, data: bytes, former: StoredContent) -> StoredContent:
    """Store a content, unless it is stored already. Return (id, content). `former`: the previous content of the file."""
    former_id, before = former
    if former_id is not None and data == before:
        return former_id, data
    # Store the content whole, or as the difference from the former content if that is much smaller.
    base: int | None = None
    chain, packed = 0, b""
    if former_id is not None:
        length = int(database.execute("SELECT chain FROM content WHERE id = ?", (former_id,)).fetchone()[0]) + 1
        if length <= LONGEST_CHAIN and len(difference := delta(before, data)) <= len(data) // 4:
            base, chain, packed = former_id, length, difference
    mark = _digest(data) if base is None or len(data) <= LARGE else _digest(b"%d %b" % (base, packed), b"difference")
    if found := database.execute("SELECT id FROM content WHERE digest = ?", (mark,)).fetchone():
        return int(found[0]), data
    row = (mark, base, chain, len(data), packed or zlib.compress(data, 6))
    added = database.execute("INSERT INTO content (digest, base, chain, size, data) VALUES (?, ?, ?, ?, ?)", row)
    id_ = int(added.lastrowid or 0)
    _recent.pop((database, former_id or 0), None)
    _remember(database, id_, data)
    return id_, data


def _digest(data: bytes, of: bytes = b"") -> bytes:
    return blake2b(data, digest_size=20, person=of).digest()


def _remember(database: sqlite3.Connection, id_: int, data: bytes) -> None:
    # SQLite reuses an id that was assigned in a transaction that was rolled back.
    _recent.pop((database, id_), None)
    _recent[database, id_] = data
    while len(_recent) > RECENT:
        del _recent[next(iter(_recent))]


def _read(database: sqlite3.Connection, id_: int) -> bytes:
    """Return a content. Raises Missing and sqlite3.DatabaseError."""
    differences, current, data = list[bytes](), id_, _recent.get((database, id_))
    try:
        while data is None:
            if (row := database.execute("SELECT base, data FROM content WHERE id = ?", (current,)).fetchone()) is None:
                raise Missing(f"content {current}")
            base, packed = row
            if base is None:
                data = zlib.decompress(packed)
            else:
                differences.append(packed)
                current, data = base, _recent.get((database, base))
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
# The number of equal lines that end a difference.
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
    data, pieces, at, read = zlib.decompress(difference), list[bytes](), 0, 0
    while read < len(data):
        start, end, size = _HUNK.unpack_from(data, read)
        read += _HUNK.size
        if not at <= start <= end <= len(old) or read + size > len(data):
            raise ValueError("the difference does not fit")
        pieces += (old[at:start], data[read : read + size])
        at, read = end, read + size
    return b"".join((*pieces, old[at:]))


def _hunks(old: bytes, new: bytes) -> Iterator[Hunk]:
    old_at = new_at = 0
    while True:
        same = _count_equal_bytes(old, old_at, new, new_at)
        if old_at + same == len(old) and new_at + same == len(new):
            return
        same = max(old.rfind(b"\n", old_at, old_at + same) + 1 - old_at, 0)
        old_at, new_at = old_at + same, new_at + same
        if (sizes := _find_equal_lines(old[old_at : old_at + WINDOW], new[new_at : new_at + WINDOW])) is None:
            break
        removed, added = sizes
        yield old_at, old_at + removed, new[new_at : new_at + added]
        old_at, new_at = old_at + removed, new_at + added
    # The windows have no equal lines: compare the rest by lines.
    old_lines, new_lines = old[old_at:].splitlines(keepends=True), new[new_at:].splitlines(keepends=True)
    counted = 0
    for (first, last), (new_first, new_last) in changes(old_lines, new_lines):
        old_at += sum(map(len, old_lines[counted:first]))
        size = sum(map(len, old_lines[first:last]))
        yield old_at, old_at + size, b"".join(new_lines[new_first:new_last])
        old_at, counted = old_at + size, last


def _count_equal_bytes(old: bytes, old_at: int, new: bytes, new_at: int) -> int:
    """Return how many bytes are equal in both contents, from `old_at` and from `new_at` on."""
    # Double the range that is compared, then bisect: comparing slices is far faster than comparing bytes.
    most, low, high, view = min(len(old) - old_at, len(new) - new_at), 0, 64, memoryview(new)
    while high < most and old.startswith(view[new_at + low : new_at + high], old_at + low):
        low, high = high, 2 * high
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        same = old.startswith(view[new_at + low : new_at + middle], old_at + low)
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _find_equal_lines(old: bytes, new: bytes) -> tuple[int, int] | None:
    """Return (bytes before the next equal lines in the old window, bytes before them in the new window); None without equal lines."""
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    first: dict[tuple[bytes, ...], int] = {}
    for number in range(len(new_lines) - ANCHOR + 1):
        first.setdefault(tuple(new_lines[number : number + ANCHOR]), number)
    equal = [
        (number + new_number, number, new_number)
        for number in range(len(old_lines) - ANCHOR + 1)
        if (new_number := first.get(tuple(old_lines[number : number + ANCHOR]))) is not None
    ]
    if not equal:
        return None
    # The nearest match, since sections are similar.
    _, number, new_number = min(equal)
    return sum(map(len, old_lines[:number])), sum(map(len, new_lines[:new_number]))
