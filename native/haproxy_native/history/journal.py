"""Store the entries of the history in the database of the server. Every method blocks and raises sqlite3.Error.

The entry of a change of files is written before the change. It has the contents of the files before and after it, and no outcome: it has
*begun*. After the change it is *ended* with the outcome, or removed. The table `begun` has all entries; the view `entry` has those that
have ended. After a crash, the next start ends or removes the others, so no limit ever deletes them. Entries of other changes are written in
one step.

An ended entry is never rewritten. The outcome of its reload is a row of another table, by the id of the reload, and its effects are added
when they have been computed. Private keys are in a database with tighter permissions (keys.db).
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice, takewhile
from typing import Any

from haproxy_native.commit.change import Content, MemberChange
from haproxy_native.disk.database import State, Tables
from haproxy_native.editing.object_names import beginning, covers
from haproxy_native.errors import Missing, NoEntry, NotFound
from haproxy_native.history import contents
from haproxy_native.history.entries import CONFIGURATION, FILE, Entry, Record, Refusal, ReloadOutcome
from haproxy_native.reload.records import KEPT
from haproxy_native.request_context import Author
from haproxy_native.storage.secret_files import is_secret

_STATEMENTS = """\
CREATE TABLE begun (
    id INTEGER PRIMARY KEY AUTOINCREMENT, parent INTEGER, time REAL NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
    outcome TEXT NOT NULL, owner TEXT NOT NULL, reload TEXT, name TEXT NOT NULL, address TEXT NOT NULL, request_id TEXT NOT NULL,
    message TEXT NOT NULL,
    cause TEXT NOT NULL, confirmation TEXT NOT NULL, members BLOB NOT NULL
);
CREATE VIEW entry AS SELECT * FROM begun WHERE outcome != '';
CREATE INDEX open ON begun (id) WHERE outcome = '';
CREATE TABLE file (
    entry INTEGER NOT NULL, object TEXT NOT NULL, path TEXT NOT NULL, secret INTEGER NOT NULL, is_kept INTEGER NOT NULL,
    PRIMARY KEY (entry, path)
);
CREATE TABLE effects (entry INTEGER PRIMARY KEY, data BLOB NOT NULL, files BLOB NOT NULL, summary TEXT NOT NULL);
CREATE TABLE touched (object TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (object, entry)) WITHOUT ROWID;
CREATE TABLE reload (
    id TEXT PRIMARY KEY, time REAL NOT NULL, status TEXT NOT NULL, changes TEXT NOT NULL, rest TEXT NOT NULL
);
CREATE TABLE forced (entry INTEGER PRIMARY KEY, reload TEXT NOT NULL);
CREATE VIEW load AS
    SELECT id AS entry, reload FROM entry WHERE reload IS NOT NULL UNION ALL SELECT entry, reload FROM forced;
CREATE TABLE refusal (
    id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, request_id TEXT NOT NULL,
    message TEXT NOT NULL, cause TEXT NOT NULL, confirmation TEXT NOT NULL, object TEXT NOT NULL, reason TEXT NOT NULL
);
"""
PART = "history"
TABLES = (Tables(PART, contents.TABLES + _STATEMENTS), Tables(PART, contents.TABLES, are_keys=True))
_BY = "name, address, request_id, message, cause, confirmation"
_ENTRY = f"id, parent, time, version, kind, outcome, owner, reload, {_BY}"
# The id for the moment before all entries.
FIRST = 0
# The names of objects that match a pattern. The range uses the index to select names with the literal beginning of the pattern.
_NAMED = "SELECT DISTINCT object FROM touched WHERE object >= ? AND object < ? AND covers(?, object)"
# Limits are enforced after every PIECE entries. If the history is too large, at least PIECE entries are deleted.
PIECE = 100


@dataclass(frozen=True)
class Limits:
    """Limits of the history."""

    entries: int = 10_000
    # The age of entries; 0 for no limit.
    seconds: float = 0.0
    # Bytes on disk.
    size: int = 1 << 30
    size_of_keys: int = 1 << 26
    refusals: int = 1_000


class Journal:
    """The history in a database, used in the thread of the database."""

    def __init__(self, state: State, limits: Limits) -> None:
        self._state, self._limits = state, limits

    # -- adding

    def add(self, record: Record) -> int:
        """Add an entry, sync it, and return its id. An entry without an outcome has begun, and is ended or removed later."""
        entry, secrets = record.entry, {content.path for content in record.contents if _is_secret(content)}
        with self._state.transaction():
            members = _packed([asdict(member) for member in record.members])
            made = (self.last, entry.time, entry.version, entry.kind, entry.outcome, entry.owner, entry.reload_id)
            row = (*made, *_author_columns(entry.author), members)
            statement = f"INSERT INTO begun (parent, time, version, kind, outcome, owner, reload, {_BY}, members) VALUES ({_marks(row)})"
            added = int(self._state.execute(statement, row).lastrowid or 0)
            for content in record.contents:
                secret = content.path in secrets
                row = (added, content.object, content.path, secret, content.is_kept)
                self._state.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?)", row)
                if content.is_kept and not secret:
                    contents.add_contents(self._state, added, content.path, content.before, content.after)
            self._touch(added, record.objects)
            # The keys are synced before the entry. If the entry is never written, the next entry gets its id and replaces these keys.
            if secret_contents := [content for content in record.contents if content.is_kept and content.path in secrets]:
                with self._state.keys.transaction():
                    self._state.keys.execute("DELETE FROM held WHERE entry >= ?", (added,))
                    for content in secret_contents:
                        contents.add_contents(self._state.keys, added, content.path, content.before, content.after)
        return added

    def end(self, entry: int, outcome: str, reload_id: str | None, members: Sequence[MemberChange] = ()) -> None:
        """End an entry. This is not synced: after a loss of power, the next start ends it again."""
        with self._state.transaction(is_synced=False):
            values = outcome, reload_id, self.last, _packed([asdict(member) for member in members]), entry
            self._state.execute("UPDATE begun SET outcome = ?, reload = ?, parent = ?, members = ? WHERE id = ?", values)
            self._touch(entry, [member.object for member in members])

    def remove(self, entry: int) -> None:
        """Remove an entry that has begun, because its change was not made."""
        with self._state.transaction(is_synced=False):
            for table, column in (("begun", "id"), ("file", "entry"), ("touched", "entry"), ("held", "entry")):
                self._state.execute(f"DELETE FROM {table} WHERE {column} = ?", (entry,))
        # After the entry: keys without an entry do no harm.
        with self._state.keys.transaction(is_synced=False):
            self._state.keys.execute("DELETE FROM held WHERE entry = ?", (entry,))

    def open(self) -> list[int]:
        """Return the ids of the entries that have begun and not ended, the oldest first."""
        return [entry for (entry,) in self._state.execute("SELECT id FROM begun WHERE outcome = '' ORDER BY id")]

    def add_first(self, content: Content) -> None:
        """Store the content that a file has before its first entry, and sync it. Does nothing if the file already has an entry."""
        if not content.is_kept or self._state.execute("SELECT 1 FROM file WHERE path = ?", (content.path,)).fetchone():
            return
        secret, first = _is_secret(content), replace(content, after=content.before)
        with self._state.transaction():
            self._state.execute("INSERT INTO file VALUES (?, ?, ?, ?, ?)", (FIRST, first.object, first.path, secret, True))
            if not secret:
                contents.add_contents(self._state, FIRST, first.path, first.before, first.after)
            else:
                with self._state.keys.transaction():
                    self._state.keys.execute("DELETE FROM held WHERE entry = ? AND path = ?", (FIRST, first.path))
                    contents.add_contents(self._state.keys, FIRST, first.path, first.before, first.after)

    def add_effects(self, entry: int, effects: Sequence[Any], objects: Sequence[str], files: Mapping[str, str], summary: str) -> None:
        """Add the effects of an entry. This is not synced, because they can be computed again."""
        with self._state.transaction(is_synced=False):
            self._state.execute(
                "INSERT OR IGNORE INTO effects VALUES (?, ?, ?, ?)", (entry, _packed(effects), _packed([*files.items()]), summary)
            )
            self._touch(entry, objects)

    def _touch(self, entry: int, objects: Sequence[str]) -> None:
        self._state.executemany("INSERT OR IGNORE INTO touched VALUES (?, ?)", [(name, entry) for name in objects])

    def add_forced(self, entry: int, reload_id: str) -> None:
        """Add the reload of an entry that was written before the reload had an id."""
        with self._state.transaction(is_synced=False):
            self._state.execute("INSERT OR IGNORE INTO forced VALUES (?, ?)", (entry, reload_id))

    def add_outcome(self, outcome: ReloadOutcome) -> None:
        row = (outcome.id, outcome.time, outcome.status, json.dumps(outcome.changes), outcome.rest)
        with self._state.transaction():
            self._state.execute(f"INSERT OR REPLACE INTO reload VALUES ({_marks(row)})", row)

    def add_refusal(self, refusal: Refusal) -> None:
        """Add a refused request. This is not synced, so that refused requests do not slow down changes."""
        row = (refusal.time, *_author_columns(refusal.author), refusal.object, refusal.reason)
        with self._state.transaction(is_synced=False):
            added = self._state.execute(f"INSERT INTO refusal (time, {_BY}, object, reason) VALUES ({_marks(row)})", row).lastrowid or 0
            self._state.execute("DELETE FROM refusal WHERE id <= ?", (added - self._limits.refusals,))

    # -- reading

    @property
    def last(self) -> int | None:
        """Return the id of the newest entry; None if there is none."""
        newest = self._state.execute("SELECT max(id) FROM entry").fetchone()[0]
        return None if newest is None else int(newest)

    def get_begun(self, id_: int) -> Entry:
        """Return an entry, whether it has ended or not. Raises NotFound."""
        for entry in self._entries("WHERE id = ?", (id_,), "begun"):
            return entry
        raise NoEntry(id_)

    def get(self, id_: int) -> Entry:
        """Return an entry that has ended. Raises NotFound."""
        for entry in self._entries("WHERE id = ?", (id_,)):
            return entry
        raise NoEntry(id_)

    def find(
        self, pattern: str = "", author: str = "", since: float | None = None, until: float | None = None, before: int | None = None
    ) -> Iterator[Entry]:
        """Yield entries, the newest first.

        `pattern`: a pattern of object names. An entry matches if it changes a matching object, or an object inside a matching object.
        `author`: the name of an author. `since` and `until`: Unix times. `before`: yield only entries with lower ids.
        """
        conditions, values = ["1"], list[Any]()
        for condition, value in (("time >= ?", since), ("time <= ?", until), ("id < ?", before), ("name = ?", author or None)):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if pattern:
            self._state.create_function("covers", 2, covers, deterministic=True)
            start = beginning(pattern)
            conditions.append(f"id IN (SELECT entry FROM touched WHERE object IN ({_NAMED}))")
            values += [start, start + "\U0010ffff", pattern]
        return self._entries(f"WHERE {' AND '.join(conditions)} ORDER BY id DESC", values)

    def _entries(self, rest: str, values: Sequence[Any], table: str = "entry") -> Iterator[Entry]:
        for id_, parent, time, version, kind, outcome, owner, reload_id, *author in self._state.execute(
            f"SELECT {_ENTRY} FROM {table} {rest}", values
        ):
            yield Entry(time, version, kind, outcome, Author(*author), owner, reload_id, id_, parent)

    def of_version(self, version: int) -> int | None:
        """Return the id of the newest entry that gave the configuration a version; None if there is none."""
        return next((entry.id for entry in self.find() if entry.kind == CONFIGURATION and entry.version == version), None)

    def text_of_version(self, version: int) -> bytes | None:
        """Return the configuration of a version, after its newest entry or before the entry of the next version; None if unknown."""
        later: Entry | None = None
        for entry in self.find():
            if entry.kind == CONFIGURATION and entry.version == version:
                return self.configuration(entry.id).after
            if entry.kind == CONFIGURATION and entry.version < version:
                break
            later = entry if entry.kind == CONFIGURATION else later
        return self.configuration(later.id).before if later and later.version == version + 1 else None

    def after_version(self, version: int, most: int) -> list[Entry]:
        """Return the newest entries after a version of the configuration, at most `most`, the newest first."""
        entries = (entry for entry in self.find() if entry.kind == CONFIGURATION)
        return list(islice(takewhile(lambda entry: entry.version > version, entries), most))

    def of_request(self, id_: str, since: float) -> int | None:
        """Return the id of the newest entry of a request since a Unix time; None if there is none. Clients may reuse ids of requests."""
        row = self._state.execute("SELECT MAX(id) FROM entry WHERE request_id = ? AND time >= ?", (id_, since)).fetchone()
        return None if row is None else row[0]

    def of_confirmation(self, id_: str) -> list[int]:
        """Return the ids of the entries of a confirmation, the newest first."""
        return [entry for (entry,) in self._state.execute("SELECT id FROM entry WHERE confirmation = ? ORDER BY id DESC", (id_,))]

    def members(self, entry: int) -> list[MemberChange]:
        """Return the members of servers in the process that an entry changed. Raises NotFound."""
        if (row := self._state.execute("SELECT members FROM entry WHERE id = ?", (entry,)).fetchone()) is None:
            raise NoEntry(entry)
        return [MemberChange(**member) for member in _unpacked(row[0])]

    def effects(self, entry: int) -> list[Any] | None:
        """Return the effects of an entry as JSON objects; None if they have not been computed yet."""
        row = self._state.execute("SELECT data FROM effects WHERE entry = ?", (entry,)).fetchone()
        return _unpacked(row[0]) if row else None

    def summary(self, entry: int) -> str:
        """Return the summary of an entry; empty if its effects have not been computed yet, or if there are none."""
        row = self._state.execute("SELECT summary FROM effects WHERE entry = ?", (entry,)).fetchone()
        return row[0] if row else ""

    def files(self, entry: int) -> dict[str, str]:
        """Return the summary of each file that an entry changed, by its object."""
        row = self._state.execute("SELECT files FROM effects WHERE entry = ?", (entry,)).fetchone()
        return dict(_unpacked(row[0])) if row else {}

    def without_effects(self) -> list[tuple[int, str]]:
        """Return (id, kind) of the entries whose effects are still to be computed."""
        return self._state.execute(
            "SELECT id, kind FROM entry WHERE kind IN (?, ?) AND id NOT IN (SELECT entry FROM effects) ORDER BY id", (CONFIGURATION, FILE)
        ).fetchall()

    def contents(self, entry: int) -> list[Content]:
        """Return the contents of the files that an entry changed. Raises NotFound for a private key that is no longer stored."""
        rows = self._state.execute("SELECT object, path, secret, is_kept FROM file WHERE entry = ?", (entry,)).fetchall()
        return [self._content(entry, *row) for row in rows]

    def stored(self, entry: int) -> list[Content]:
        """Return the contents of the files other than the configuration that an entry changed. Skips contents that were deleted."""
        rows = self._state.execute("SELECT object, path, secret, is_kept FROM file WHERE entry = ? AND object != ''", (entry,)).fetchall()
        contents_ = list[Content]()
        for row in rows:
            with suppress(NotFound):
                contents_.append(self._content(entry, *row))
        return contents_

    def configuration(self, entry: int) -> Content:
        """Return the configuration before and after an entry, which must have changed it. Raises NotFound."""
        row = self._state.execute("SELECT object, path, secret, is_kept FROM file WHERE entry = ? AND object = ''", (entry,)).fetchone()
        return self._content(entry, *row)

    def has_files(self, entry: int) -> bool:
        """Return whether an entry changed files other than the configuration."""
        return self._state.execute("SELECT 1 FROM file WHERE entry = ? AND object != ''", (entry,)).fetchone() is not None

    def _content(self, entry: int, object_: str, path: str, secret: int, is_kept: int) -> Content:
        before, after = None, None
        if is_kept:
            try:
                before, after = contents.read_contents(self._state.keys if secret else self._state, entry, path)
            except Missing:
                raise NotFound(f"the contents of {path} at entry {entry} are no longer stored") from None
        return Content(object_, path, before, after, bool(is_kept))

    def paths(self) -> list[str]:
        return [path for (path,) in self._state.execute("SELECT DISTINCT path FROM file ORDER BY path")]

    def at(self, entry: int, path: str, *, before: bool = False) -> Content | None:
        """Return the content of a file after an entry; with `before`, the content before the entry. Raises NotFound.

        Return None if the history does not know the file.
        """
        for order, condition in (("DESC", "entry <= ?"), ("ASC", "entry > ?")):
            statement = (
                "SELECT entry, object, path, secret, is_kept FROM file WHERE path = ? AND entry NOT IN "
                f"(SELECT id FROM begun WHERE outcome = '') AND {condition} ORDER BY entry {order} LIMIT 1"
            )
            if row := self._state.execute(statement, (path, entry)).fetchone():
                content = self._content(*row)
                if row[0] == entry or (order == "DESC" and not before):
                    return content
                known = content.after if order == "DESC" else content.before
                return replace(content, before=known, after=known)
        return None

    def objects(self, entry: int) -> list[str]:
        """Return the names of the objects that an entry created, changed or deleted."""
        return [name for (name,) in self._state.execute("SELECT object FROM touched WHERE entry = ? ORDER BY object", (entry,))]

    def without_outcome(self) -> list[str]:
        """Return the ids of reloads whose outcome is not known."""
        rows = self._state.execute("SELECT DISTINCT reload FROM load WHERE reload NOT IN (SELECT id FROM reload)")
        return [reload_id for (reload_id,) in rows]

    def outcome(self, reload_id: str) -> ReloadOutcome | None:
        row = self._state.execute("SELECT * FROM reload WHERE id = ?", (reload_id,)).fetchone()
        if row is None:
            return None
        id_, time, status, changes, rest = row
        return ReloadOutcome(id_, time, status, {int(entry): outcome for entry, outcome in json.loads(changes).items()}, rest)

    def outcome_of(self, entry: Entry) -> ReloadOutcome | None:
        """Return the outcome of an entry's reload. If it failed and another reload loads the change, return the outcome of the other."""
        row = self._state.execute("SELECT reload FROM load WHERE entry = ?", (entry.id,)).fetchone()
        outcome = self.outcome(row[0]) if row else None
        while outcome and outcome.rest and outcome.changes.get(entry.id) == KEPT:
            outcome = self.outcome(outcome.rest)
        return outcome

    def refusals(self) -> Iterator[Refusal]:
        """Yield refused requests, the newest first."""
        statement = f"SELECT id, time, {_BY}, object, reason FROM refusal ORDER BY id DESC"
        for id_, time, *author, object_, reason in self._state.execute(statement):
            yield Refusal(time, Author(*author), object_, reason, id_)

    # -- limits

    def prune(self, now: float) -> None:
        """Delete the oldest entries beyond the limits. Keep the newest entry, and all entries since the oldest one that has not ended."""
        if (last := self.last) is None:
            return
        below = last - self._limits.entries + 1
        if self._limits.seconds:
            oldest = self._state.execute("SELECT min(id) FROM entry WHERE time >= ?", (now - self._limits.seconds,)).fetchone()[0]
            below = max(below, last if oldest is None else oldest)
        if self._state.size > self._limits.size:
            first = int(self._state.execute("SELECT min(id) FROM entry").fetchone()[0])
            below = max(below, first + max(PIECE, (last - first) // 10))
        begun = self.open()
        below = min([below, last, *begun[:1]])
        if self._state.execute("SELECT 1 FROM entry WHERE id < ?", (below,)).fetchone():
            with self._state.transaction():
                self._state.execute("DELETE FROM reload WHERE id NOT IN (SELECT reload FROM load WHERE entry >= ?)", (below,))
                for table, column in (("begun", "id"), ("forced", "entry"), ("file", "entry"), ("effects", "entry"), ("touched", "entry")):
                    self._state.execute(f"DELETE FROM {table} WHERE {column} < ?", (below,))
                contents.delete_contents(self._state, below)
            with self._state.keys.transaction():
                contents.delete_contents(self._state.keys, below)
            for database in (self._state, self._state.keys):
                database.release_room()
        if contents.size(self._state.keys) > self._limits.size_of_keys:
            with self._state.keys.transaction():
                rows = [entry for (entry,) in self._state.keys.execute("SELECT entry FROM held ORDER BY entry")]
                contents.delete_contents(self._state.keys, min([rows[len(rows) // 2], *begun[:1]]))


def _is_secret(content: Content) -> bool:
    # Configurations do not count as secret, although they may have passwords.
    return bool(content.object) and any(is_secret(data) for data in (content.before, content.after) if data)


def _author_columns(author: Author) -> tuple[str, ...]:
    return author.name, author.address, author.request_id, author.message, author.cause, author.confirmation


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


def _packed(rows: Sequence[Any]) -> bytes:
    # Encode the rows one by one: the encoder holds the GIL during a call.
    return zlib.compress(f"[{','.join(map(json.dumps, rows))}]".encode())


def _unpacked(data: bytes) -> list[Any]:
    """Return the rows that `_packed` has encoded. Raises sqlite3.DatabaseError."""
    try:
        rows: list[Any] = json.loads(zlib.decompress(data))
    except (zlib.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"the database is damaged: {error}") from error
    return rows
