"""Events that wait for their delivery, in a database. Every method blocks and raises sqlite3.Error and OSError; no two are called at once.

What is added is on disk when the method returns. That something was delivered is on disk later: after a loss of power it is sent twice.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_TABLES = """\
CREATE TABLE IF NOT EXISTS webhook (name TEXT PRIMARY KEY, sequence INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS waiting (
    webhook TEXT NOT NULL, sequence INTEGER NOT NULL, time REAL NOT NULL, body BLOB NOT NULL, PRIMARY KEY (webhook, sequence)
);
CREATE TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS running (process INTEGER PRIMARY KEY);
"""
# So many keys of events are remembered.
_SEEN = 2_000
# Beyond the limit of bytes this part of the events goes at once.
_PART = 0.01


@dataclass(frozen=True)
class Limits:
    """The limits of each webhook: events, bytes, and an age in seconds."""

    number: int = 20_000
    size: int = 64 << 20
    seconds: float = 3 * 86400.0


@dataclass(frozen=True)
class Waiting:
    """An event in the queue; `time` is when it came there, `body` its JSON."""

    sequence: int
    time: float
    body: bytes


class Queue:
    """Only this process's user may read its file. `dropped` counts by webhook what went beyond the limits since it was opened."""

    def __init__(self, directory: Path, limits: Limits) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = directory / "queue.db"
        path.touch(mode=0o600)
        self._limits = limits
        self.dropped: dict[str, int] = {}
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.executescript(_TABLES)
        self._begin()
        self._sizes = {name: (count, size) for name, count, size in self._database.execute(_SIZES)}

    def _begin(self) -> None:
        """A process that was killed may have had events that it had not written yet: a number is left out for them."""
        with self._transaction():
            if self._database.execute("SELECT 1 FROM running").fetchone():
                self._database.execute("UPDATE webhook SET sequence = sequence + 1")
            self._database.execute("INSERT OR IGNORE INTO running VALUES (1)")

    def close(self) -> None:
        with suppress(sqlite3.Error), self._transaction():
            self._database.execute("DELETE FROM running")
        self._database.close()

    def add(self, events: Mapping[str, Sequence[bytes]], now: float, keys: Collection[str] = ()) -> None:
        """Adds events by webhook; the oldest beyond the limits are deleted. `keys` count as seen from then on."""
        with self._transaction():
            for name, bodies in events.items():
                first = self._numbers(name, len(bodies))
                rows = [(name, first + place, now, body) for place, body in enumerate(bodies)]
                self._database.executemany("INSERT INTO waiting VALUES (?, ?, ?, ?)", rows)
            self._see(keys, now)
        for name, bodies in events.items():
            self._count(name, len(bodies), sum(map(len, bodies)))
            self._prune(name, now)

    def _see(self, keys: Collection[str], now: float) -> None:
        self._database.executemany("INSERT OR IGNORE INTO seen (key, time) VALUES (?, ?)", [(key, now) for key in keys])
        self._database.execute("DELETE FROM seen WHERE id <= (SELECT max(id) FROM seen) - ?", (_SEEN,))

    def seen(self) -> tuple[set[str], float | None]:
        """The last keys, and the time of the first of them."""
        rows = self._database.execute("SELECT key, time FROM seen ORDER BY id").fetchall()
        return {key for key, _ in rows}, float(rows[0][1]) if rows else None

    def register(self, names: Collection[str], now: float) -> set[str]:
        """Returns which of the webhooks were registered before; the others begin now."""
        known = {name for (name,) in self._database.execute("SELECT name FROM webhook")}
        with self._transaction():
            self._database.executemany("INSERT OR IGNORE INTO webhook VALUES (?, 0)", [(name,) for name in names])
            if not known:
                self._database.execute("DELETE FROM seen")
            self._see(("",), now)
        return known.intersection(names)

    def skip(self, names: Collection[str]) -> None:
        """Leaves out a number, for events that are lost."""
        with self._transaction():
            for name in names:
                self._numbers(name, 1)

    def _numbers(self, name: str, count: int) -> int:
        """The first of so many numbers."""
        self._database.execute("INSERT OR IGNORE INTO webhook VALUES (?, 0)", (name,))
        statement = "UPDATE webhook SET sequence = sequence + ? WHERE name = ? RETURNING sequence"
        return int(self._database.execute(statement, (count, name)).fetchone()[0]) - count + 1

    def next(self, name: str, after: int, now: float) -> Waiting | None:
        """The oldest after that number."""
        self._prune(name, now)
        statement = "SELECT sequence, time, body FROM waiting WHERE webhook = ? AND sequence > ? ORDER BY sequence LIMIT 1"
        row = self._database.execute(statement, (name, after)).fetchone()
        return Waiting(*row) if row else None

    def remove(self, name: str, sequence: int) -> None:
        """All up to that one."""
        self._delete(name, "sequence <= ?", sequence, is_synced=False)
        if not self.count(name):
            self._database.execute("PRAGMA incremental_vacuum").fetchall()

    def keep_only(self, names: Collection[str]) -> dict[str, int]:
        """Deletes what waits for any other webhook; how many, by its name."""
        others = {name: self.count(name) for (name,) in self._database.execute("SELECT name FROM webhook") if name not in names}
        with self._transaction():
            for name in others:
                self._database.execute("DELETE FROM waiting WHERE webhook = ?", (name,))
                self._database.execute("DELETE FROM webhook WHERE name = ?", (name,))
        for name in others:
            self._sizes.pop(name, None)
        return others

    def count(self, name: str) -> int:
        return int(self._sizes.get(name, (0, 0))[0])

    def oldest(self, name: str) -> float | None:
        """When the oldest came."""
        row = self._database.execute("SELECT time FROM waiting WHERE webhook = ? ORDER BY sequence LIMIT 1", (name,)).fetchone()
        return float(row[0]) if row else None

    def _prune(self, name: str, now: float) -> None:
        oldest = self.oldest(name)
        if oldest is not None and oldest < now - self._limits.seconds:
            self._drop(name, "time < ?", now - self._limits.seconds)
        if (over := self.count(name) - self._limits.number) > 0:
            self._drop_oldest(name, over)
        while (count := self.count(name)) > 1 and self._sizes[name][1] > self._limits.size:
            self._drop_oldest(name, 1 + int(_PART * (count - 2)))

    def _drop_oldest(self, name: str, number: int) -> None:
        statement = "SELECT sequence FROM waiting WHERE webhook = ? ORDER BY sequence LIMIT 1 OFFSET ?"
        self._drop(name, "sequence <= ?", self._database.execute(statement, (name, number - 1)).fetchone()[0])

    def _drop(self, name: str, condition: str, value: float) -> None:
        self.dropped[name] = self.dropped.get(name, 0) + self._delete(name, condition, value)

    def _delete(self, name: str, condition: str, value: float, *, is_synced: bool = True) -> int:
        where = f"FROM waiting WHERE webhook = ? AND {condition}"
        count, size = self._database.execute(f"SELECT count(*), coalesce(sum(length(body)), 0) {where}", (name, value)).fetchone()
        with self._transaction(is_synced=is_synced):
            self._database.execute(f"DELETE {where}", (name, value))
        self._count(name, -count, -size)
        return int(count)

    def _count(self, name: str, more: int, bytes_: int) -> None:
        count, size = self._sizes.get(name, (0, 0))
        self._sizes[name] = (count + more, size + bytes_)

    @contextmanager
    def _transaction(self, *, is_synced: bool = True) -> Iterator[None]:
        self._database.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'NORMAL'}")
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._database.execute("ROLLBACK")
            raise


_SIZES = "SELECT webhook, count(*), sum(length(body)) FROM waiting GROUP BY webhook"
