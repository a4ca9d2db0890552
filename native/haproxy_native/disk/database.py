"""The database of this server: state.db, and keys.db next to it for data that may contain private keys.

A dozen parts of this server store data that survives a restart. They share one SQLite database in WAL mode, one thread, and one policy for
a disk that is full, read-only or damaged (docs/operations.md, "The database").

* One thread owns the connections. It does the work in the order of submission, so that everything that was posted before the history entry
  of a change is on disk before that entry.
* A part declares its `Tables`. They are created when the database is opened; a database with another version of them is refused.
* `run` reads and `store` writes, and both may be refused. `write` and `post` are never refused: if the disk does not accept a write, it
  waits in memory, and is written before anything else is written.
* When a synced transaction ends, it is on disk, with all earlier ones. A transaction that is not synced survives a kill of this process,
  but not a loss of power.
* After a disk error the connections are closed, and opened again for the next work: no restart is needed.
* If the database cannot be opened because its disk is read-only or full, it is read from a copy in the temporary directory.
"""

import asyncio
import logging
import os
import shutil
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from haproxy_native.disk import path_errors
from haproxy_native.disk.path_errors import failed
from haproxy_native.errors import Unusable
from haproxy_native.scratch import Scratch

log = logging.getLogger(__name__)
STATE, KEYS = "state.db", "keys.db"
# The WAL is checkpointed after `_TURN` transactions, once other work is done; or after `_PAGES` pages, as part of a transaction.
_TURN, _PAGES, _PAGE_BYTES = 50, 10_000, 4096
# The number of writes that may wait in memory, and the seconds after which they are retried at the latest.
_MOST_WAITING, _RETRY_SECONDS = 10_000, 1.0
_NEEDS_REOPENING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Errors of SQLite that a retry cannot avoid.
_MISTAKES = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.DataError, sqlite3.NotSupportedError)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_REMEDY = "restore a backup of its directory, or move that directory away to start without its data"
# The free bytes that are needed to open and write a database.
_LEAST = 1 << 17
Result = TypeVar("Result")


@dataclass(frozen=True)
class Tables:
    """The tables of one part of this server."""

    part: str
    # Statements that create them.
    statements: str
    # Increased when tables or rows change their form.
    version: int = 1
    # Whether they are in keys.db.
    are_keys: bool = False


class SqliteConnection(sqlite3.Connection):
    """A connection that writes every text as UTF-8. HAProxy allows names that are not UTF-8; their bytes are written as escapes."""

    def __init__(self, path: Path) -> None:
        """Open or create the database. Set mode 0600, since a restored database may have another mode. Raises sqlite3.Error and OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)
        super().__init__(path, isolation_level=None, check_same_thread=False)
        self.transactions = 0
        with ExitStack() as opened:
            opened.enter_context(closing(self))
            for pragma in (
                "auto_vacuum=INCREMENTAL",
                "journal_mode=WAL",
                f"wal_autocheckpoint={_PAGES}",
                f"journal_size_limit={_PAGES * _PAGE_BYTES}",
            ):
                self.execute(f"PRAGMA {pragma}")
            opened.pop_all()

    def create(self, parts: Sequence[Tables]) -> None:
        """Create the tables that do not exist, in one transaction. Raises sqlite3.Error if some exist with another version."""
        self.execute("CREATE TABLE IF NOT EXISTS part (name TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        known: dict[str, int] = dict(self.execute("SELECT name, version FROM part"))
        for each in parts:
            if (version := known.get(each.part, each.version)) != each.version:
                raise sqlite3.DatabaseError(f"its tables of {each.part} are of version {version}; this program has version {each.version}")
        if missing := {each.part: each for each in parts if each.part not in known}:
            made = [f"{each.statements}; INSERT INTO part VALUES ('{name}', {each.version})" for name, each in missing.items()]
            self.executescript(f"BEGIN IMMEDIATE; {'; '.join(made)}; COMMIT")

    def execute(self, statement: str, values: Any = (), /) -> sqlite3.Cursor:
        return super().execute(statement, [_as_utf_8(each) for each in values])

    def executemany(self, statement: str, rows: Any, /) -> sqlite3.Cursor:
        return super().executemany(statement, [[_as_utf_8(each) for each in row] for row in rows])

    @contextmanager
    def transaction(self, *, is_synced: bool = True) -> Iterator[None]:
        """Commit what the body does, or undo it if the body raises.

        With `is_synced`, the commit is on disk at the end. Without, a loss of power may undo the commit.
        """
        self.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'NORMAL'}")
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            # A full disk has ended the transaction already.
            if self.in_transaction:
                self.execute("ROLLBACK")
            raise
        self.transactions += 1

    def release_room(self) -> None:
        """Return the space of deleted rows to the disk."""
        # `execute` would make one step of the statement and free one page.
        self.executescript("PRAGMA incremental_vacuum")

    @property
    def size(self) -> int:
        """Bytes in use."""
        pages, unused, size = (self.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
        return int((pages - unused) * size)


class State(SqliteConnection):
    """state.db of a directory; `keys` is keys.db."""

    def __init__(self, directory: Path) -> None:
        self.keys = SqliteConnection(directory / KEYS)
        with ExitStack() as opened:
            opened.enter_context(closing(self.keys))
            super().__init__(directory / STATE)
            opened.pop_all()

    def close(self) -> None:
        with closing(self.keys):
            super().close()


Work = Callable[[State], Result]


@dataclass
class _Write(Generic[Result]):
    work: Work[Result]
    part: str = ""
    result: Result | None = None
    # The error for which the write was dropped, since a retry cannot avoid the error.
    error: Exception | None = None


class Database:
    """state.db and keys.db of a directory, opened with the first work. `close` at the end."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._thread = ThreadPoolExecutor(1, "state")
        self._tables, self._created = list[Tables](), 0
        # Used by the thread alone.
        self._state: State | None = None
        self._is_copy = False
        self._waiting: deque[_Write[Any]] = deque(maxlen=_MOST_WAITING)
        # Why writes wait, and whether a timer is set to retry them.
        self._reason, self._is_due = "", False

    def declare(self, *tables: Tables) -> None:
        """Add the tables of a part. Called before the part's first work."""
        self._tables += tables

    async def run(self, work: Work[Result]) -> Result:
        """Do work that reads, and return its result. Cancelling the caller does not cancel the work.

        Raises Unusable for errors of SQLite and the disk. Raises other errors of the work unchanged.
        """
        return await self._wait(partial(self._work, work))

    async def store(self, work: Work[Result]) -> Result:
        """Do work that writes, as `run` does.

        Also raises Unusable if writes wait in memory and cannot be written first, since they might overwrite this work's rows later.
        """
        return await self._wait(partial(self._work, work, writes=True))

    async def write(self, work: Work[Result], part: str = "", *, waits: bool = True) -> Result | None:
        """Do a write and return its result. Return None if the write waits in memory, or was dropped because a retry could not succeed.

        `part`: the part that writes. With `waits=False`, a write that fails is dropped, and Unusable is raised.
        """
        return await self._wait(partial(self._write, work, part, waits=waits))

    async def catch_up(self, part: str = "") -> None:
        """Write what waits in memory. Raises Unusable if the disk does not accept a write of this part; if `part` is empty, of any part."""

        def catch_up() -> None:
            try:
                self._carry_out(self._write_waiting)
            except Unusable:
                if any(part in ("", each.part) for each in self._waiting):
                    raise

        await self._wait(catch_up)

    @property
    def backlog(self) -> str:
        """How many writes wait in memory, and why; empty if none do."""
        waiting = len(self._waiting)
        return f"{waiting} writes wait in memory: {self._reason}" if waiting else ""

    async def _wait(self, call: Callable[[], Result]) -> Result:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._thread, call)
        except RuntimeError:
            raise self._closed() from None
        return await asyncio.shield(running)

    def read(self, work: Work[Result]) -> Result:
        """Do work that reads, as `run` does, but block. Raises Unusable also if a stored value is invalid."""
        try:
            return self._submit(partial(self._work, work)).result()
        except (ValueError, TypeError, KeyError) as error:
            raise Unusable(f"the database {self.directory / STATE} cannot be used: {error!r}; {_REMEDY}") from error

    def post(self, work: Work[object], part: str = "") -> None:
        """Submit a write without waiting for it."""
        self._submit_if_open(partial(self._write, work, part))

    def close(self) -> None:
        """Block until all submitted work is done. May be called again."""
        self._submit_if_open(self._try_again)
        self._submit_if_open(self._close)
        self._thread.shutdown()

    def _submit(self, call: Callable[[], Result]) -> "Future[Result]":
        try:
            return self._thread.submit(call)
        except RuntimeError:
            raise self._closed() from None

    def _submit_if_open(self, call: Callable[[], object]) -> None:
        with suppress(Unusable):
            self._submit(call)

    def _closed(self) -> Unusable:
        return Unusable(f"the database {self.directory / STATE} is closed")

    # -- in the thread

    def _work(self, work: Work[Result], *, writes: bool = False) -> Result:
        if self._waiting:
            try:
                self._carry_out(self._write_waiting)
            except Unusable as error:
                if writes:
                    raise
                self._reason = str(error)
                self._try_again_later()
        return self._carry_out(work)

    def _write(self, work: Work[Result], part: str = "", *, waits: bool = True) -> Result | None:
        own = _Write(work, part)
        self._waiting.append(own)
        try:
            self._carry_out(self._write_waiting)
        except Unusable as error:
            if not waits:
                self._waiting.remove(own)
                raise
            self._reason = str(error)
            log.error("%s", self.backlog)
            self._try_again_later()
        if own.error and not waits:
            raise Unusable(f"a write to {self.directory / STATE} failed: {own.error!r}") from own.error
        return own.result

    def _try_again_later(self) -> None:
        if not self._is_due:
            self._is_due = True
            timer = threading.Timer(_RETRY_SECONDS, self._submit_if_open, [self._try_again])
            timer.daemon = True
            timer.start()

    def _try_again(self) -> None:
        self._is_due = False
        with suppress(Unusable):
            self._work(lambda _: None)

    def _write_waiting(self, state: State) -> None:
        while self._waiting:
            first = self._waiting[0]
            try:
                first.result = first.work(state)
            except Exception as error:
                if isinstance(error, sqlite3.Error | OSError) and not isinstance(error, _MISTAKES):
                    raise
                first.error = error
                log.exception("a write to %s failed and is dropped", self.directory / STATE)
            self._waiting.popleft()

    def _carry_out(self, work: Work[Result]) -> Result:
        try:
            state = self._open()
            result = work(state)
        except (sqlite3.Error, OSError) as error:
            if _code(error) in _NEEDS_REOPENING:
                self._close()
            raise self._unusable(error) from error
        if state.transactions >= _TURN:
            state.transactions = 0
            self._submit_if_open(self._checkpoint)
        return result

    def _open(self) -> State:
        """Open the database unless it is open, and create the declared tables. Returns a copy if the disk accepts no writes."""
        if self._is_copy:
            with suppress(OSError):
                path_errors.check_space(self.directory, _LEAST)
                if os.access(self.directory, os.W_OK):
                    self._close()
        if self._state is None:
            self._created = 0
            try:
                self._state = State(self.directory)
            except (sqlite3.Error, OSError) as error:
                if _code(error) in _DAMAGED or (copy := self._open_copy()) is None:
                    raise
                self._state, self._is_copy = copy, True
        added = self._tables[self._created :]
        for connection in (self._state, self._state.keys):
            if parts := [tables for tables in added if tables.are_keys == (connection is self._state.keys)]:
                connection.create(parts)
        self._created += len(added)
        return self._state

    def _open_copy(self) -> State | None:
        """Open a copy for reading, and delete its files at once. Return None if there is no database, or no space for a copy."""
        if not (self.directory / STATE).exists():
            return None
        try:
            scratch = Scratch("state")
        except Unusable:
            return None
        try:
            for name in (STATE, KEYS):
                for suffix in ("", "-wal"):
                    if (path := self.directory / f"{name}{suffix}").exists():
                        shutil.copyfile(path, scratch.path / path.name)
            state = State(scratch.path)
            for connection in (state, state.keys):
                connection.execute("PRAGMA query_only=ON")
        except (sqlite3.Error, OSError):
            return None
        finally:
            scratch.remove()
        log.warning("%s is read from a copy, since its disk takes no writes", self.directory / STATE)
        return state

    def _close(self) -> None:
        state, self._state, self._is_copy = self._state, None, False
        if state:
            with suppress(sqlite3.Error):
                state.close()

    def _checkpoint(self) -> None:
        with suppress(sqlite3.Error):
            for database in (self._state, self._state.keys) if self._state else ():
                database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _unusable(self, error: Exception) -> Unusable:
        """Return an Unusable whose message names the cause and the remedy."""
        text, code = f"the database {self.directory / STATE} cannot be used: {error}", _code(error)
        if isinstance(error, OSError):
            return Unusable(failed(f"the database {self.directory / STATE} cannot be used", error, self.directory))
        if code in _DAMAGED:
            return Unusable(f"{text}; {_REMEDY}")
        try:
            path_errors.check_space(self.directory, _LEAST)
        except OSError as no_space:
            return Unusable(failed(text, no_space, self.directory))
        return Unusable(text)


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _as_utf_8(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) and not value.isascii() else value
