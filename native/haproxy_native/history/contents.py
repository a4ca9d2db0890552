"""Contents of files in a database: each once, as a difference from the one before it where that is smaller."""

import sqlite3
import struct
import zlib
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from haproxy_native.errors import Missing, Unreadable
from haproxy_native.history.deltas import applied, delta

# Contents in memory: entries are mostly read in a row, and each is a difference from the one before.
RECENT = 4
_recent: dict[tuple[sqlite3.Connection, int], bytes] = {}
# A content of more bytes that hardly differs from the one before it is known by what differs: a digest of all takes longer than all else.
LARGE = 1 << 16
# After so many differences in a row a content is kept whole, so that reading one takes a few milliseconds.
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
# Its id, and the bytes; no id for none.
Known = tuple[int | None, bytes]


def hold(database: sqlite3.Connection, entry: int, path: str, before: bytes | None, after: bytes | None) -> None:
    """Keeps what a file held before and after an entry."""
    known, ids = _newest(database, path), list[int | None]()
    for data in (before, after):
        known = known if data is None else _put(database, data, known)
        ids.append(None if data is None else known[0])
    database.execute("INSERT INTO held VALUES (?, ?, ?, ?)", (entry, path, *ids))


def held(database: sqlite3.Connection, entry: int, path: str) -> tuple[bytes | None, bytes | None]:
    """What `hold` has kept. Raises Missing where it has been deleted since, and sqlite3.DatabaseError where it is damaged."""
    row = database.execute("SELECT before, after FROM held WHERE entry = ? AND path = ?", (entry, path)).fetchone()
    if row is None:
        raise Missing(f"what {path} held is not kept any more")
    before, after = (None if id_ is None else _get(database, id_) for id_ in row)
    return before, after


def forget(database: sqlite3.Connection, below: int) -> None:
    """Deletes what entries before this one have kept, and what nothing is made of any more."""
    database.execute("DELETE FROM held WHERE entry < ?", (below,))
    database.execute(_UNUSED)


def size(database: sqlite3.Connection) -> int:
    """Return the bytes that all contents take. Other parts have tables in the database as well."""
    return int(database.execute("SELECT total(length(data)) FROM content").fetchone()[0])


def _newest(database: sqlite3.Connection, path: str) -> Known:
    """Returns the newest content of a file, with which the next change usually begins."""
    found = database.execute(_NEWEST, (path,)).fetchone()
    with suppress(Missing, sqlite3.DatabaseError):
        return (found[0], _get(database, found[0])) if found else (None, b"")
    return None, b""


def _put(database: sqlite3.Connection, data: bytes, former: Known) -> Known:
    """A content, which is added where it is new. `former`: what stood there."""
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
    """Base, number of differences in a row, and the difference; none where the content is to be kept whole."""
    base, before = former
    if base is not None:
        chain = int(database.execute("SELECT chain FROM content WHERE id = ?", (base,)).fetchone()[0]) + 1
        if chain <= LONGEST_CHAIN and len(packed := delta(before, data)) <= len(data) // 4:
            return base, chain, packed
    return None, 0, b""


def _remember(database: sqlite3.Connection, id_: int, data: bytes) -> None:
    # An id is used again where its transaction was rolled back.
    _recent.pop((database, id_), None)
    _recent[database, id_] = data
    while len(_recent) > RECENT:
        del _recent[next(iter(_recent))]


def _get(database: sqlite3.Connection, id_: int) -> bytes:
    """Raises Missing and sqlite3.DatabaseError."""
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


def on_disk(path: Path) -> bytes | None:
    """What a file holds; None where there is none. Raises Unreadable."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
