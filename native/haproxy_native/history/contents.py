"""Contents of files in a database: each once, as a difference from the one before it where that is smaller."""

import sqlite3
import struct
import zlib
from hashlib import blake2b

from haproxy_native.errors import Missing
from haproxy_native.history.deltas import applied, delta

# Contents in memory: entries are mostly read in a row, and each is a difference from the one before.
RECENT = 4
_last: dict[sqlite3.Connection, tuple[int, bytes]] = {}
_recent: dict[tuple[sqlite3.Connection, int], bytes] = {}
# After so many differences in a row a content is kept whole, so that reading one takes a few milliseconds.
LONGEST_CHAIN = 100
TABLES = """\
CREATE TABLE IF NOT EXISTS content (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, base INTEGER, chain INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS held (entry INTEGER NOT NULL, path TEXT NOT NULL, before INTEGER, after INTEGER, PRIMARY KEY (entry, path));
CREATE INDEX IF NOT EXISTS held_path ON held (path, entry);
"""
_UNUSED = """\
WITH RECURSIVE used(id) AS (
    SELECT before FROM held WHERE before IS NOT NULL UNION SELECT after FROM held WHERE after IS NOT NULL
    UNION SELECT content.base FROM content JOIN used ON content.id = used.id WHERE content.base IS NOT NULL
) DELETE FROM content WHERE id NOT IN used"""


def close(database: sqlite3.Connection) -> None:
    """With what is remembered of it. Raises sqlite3.Error."""
    _last.pop(database, None)
    for known in [each for each in _recent if each[0] is database]:
        del _recent[known]
    database.close()


def hold(database: sqlite3.Connection, entry: int, path: str, before: bytes | None, after: bytes | None) -> None:
    """Keeps what a file held before and after an entry."""
    base = None if before is None else _put(database, before)
    ids = (base, None if after is None else _put(database, after, (base, before)))
    database.execute("INSERT INTO held VALUES (?, ?, ?, ?)", (entry, path, *ids))


def held(database: sqlite3.Connection, entry: int, path: str) -> tuple[bytes | None, bytes | None]:
    """What `hold` has kept. Raises Missing where it has been deleted since, and sqlite3.DatabaseError where it is damaged."""
    found = database.execute("SELECT before, after FROM held WHERE entry = ? AND path = ?", (entry, path)).fetchone()
    if found is None:
        raise Missing(f"what {path} held is not kept any more")
    before, after = (None if id_ is None else _get(database, id_) for id_ in found)
    return before, after


def forget(database: sqlite3.Connection, below: int) -> None:
    """Deletes what entries before this one have kept, and what nothing is made of any more."""
    database.execute("DELETE FROM held WHERE entry < ?", (below,))
    database.execute(_UNUSED)


def _put(database: sqlite3.Connection, data: bytes, former: tuple[int | None, bytes | None] = (None, None)) -> int:
    """The id of a content, which is added where it is new. `former`: id and content of what stood there."""
    # What one change has left is mostly what the next one begins with.
    if (last := _last.get(database)) and last[1] is data and _is_there(database, last[0]):
        return last[0]
    mark = blake2b(data, digest_size=20).digest()
    found = database.execute("SELECT id FROM content WHERE digest = ?", (mark,)).fetchone()
    id_ = int(found[0]) if found else _add(database, mark, data, former)
    _last[database] = (id_, data)
    return id_


def _add(database: sqlite3.Connection, mark: bytes, data: bytes, former: tuple[int | None, bytes | None]) -> int:
    (base, before), chain, packed = former, 0, b""
    if base is not None and before is not None:
        chain = int(database.execute("SELECT chain FROM content WHERE id = ?", (base,)).fetchone()[0]) + 1
        packed = delta(before, data) if chain <= LONGEST_CHAIN else b""
    if not packed or len(packed) > len(data) // 4:
        base, chain, packed = None, 0, zlib.compress(data, 6)
    row = (mark, base, chain, len(data), packed)
    added = database.execute("INSERT INTO content (digest, base, chain, size, data) VALUES (?, ?, ?, ?, ?)", row)
    return int(added.lastrowid or 0)


def _is_there(database: sqlite3.Connection, id_: int) -> bool:
    return database.execute("SELECT 1 FROM content WHERE id = ?", (id_,)).fetchone() is not None


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
    _recent[database, id_] = data
    while len(_recent) > RECENT:
        del _recent[next(iter(_recent))]
    return data
