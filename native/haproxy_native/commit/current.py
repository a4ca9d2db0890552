"""Own the current document, version and fingerprint, and detect edits of the file by other processes.

Operators and other programs edit haproxy.cfg as well, and no lock keeps them from it. So this server compares the file before it relies on
its own copy:

- The file's stamp (`Seen`: times, size, inode) reveals most changes without a read. The kernel dates a write by a clock that advances every
  few milliseconds, so a stamp younger than `_TICK` proves nothing, and the file is read. An older stamp is settled.
- A text that another process has written becomes the next version as it is. It is not rewritten, and its header is not corrected.
- A text that this server is about to write, or has written, is recognized by its fingerprint and does not count as an edit.

Document, version and fingerprint always agree, and change together in `_set`. Each such change cancels the work that was begun on the
former document (`unless_overtaken`). It also advances `_turn`, from which a read in a thread detects that its result is out of date.

At the next start, the server compares the fingerprint of the file with the stored one (`StateRow`). If they are equal, the stored version
applies; otherwise the version in the file's header.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.file import FileStamp
from haproxy_native.disk.files import ConfigFiles, Drafts, FileStamps
from haproxy_native.editing import header, patches
from haproxy_native.editing.header import Stamp, Stamped, checksum_of
from haproxy_native.errors import Unusable, WriteFailed
from haproxy_native.process_state import ConfigurationText
from haproxy_native.text.document import CONFIGURATION, Document, Outline
from haproxy_native.text.parts import is_joined

log = logging.getLogger(__name__)
TABLES = Tables(
    "files",
    """\
CREATE TABLE file_state (name TEXT PRIMARY KEY, version INTEGER NOT NULL, fingerprint TEXT NOT NULL, process TEXT NOT NULL);
CREATE TABLE last_good (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE open_load (began REAL PRIMARY KEY, fingerprint TEXT NOT NULL, data BLOB NOT NULL, target BLOB)
""",
)


@dataclass(frozen=True)
class FileRow:
    """A file as it was last read or written."""

    version: int = 0
    fingerprint: str = ""
    # What `process_state.to_row` returns; empty for a file that HAProxy does not read as its configuration.
    process: Mapping[str, Any] = field(default_factory=dict)


class StateRow:
    """The row of the database with the version of a file and, for haproxy.cfg, the state of the process that reads it.

    `value` is the row in memory; with `is_kept=False` it is never written. Writes are queued, and a change that has to wait for them awaits
    `flush`. If a kill loses a write, the next change reloads HAProxy.
    """

    def __init__(self, database: Database, name: str, *, is_kept: bool = True) -> None:
        self._database, self._name, self._is_kept = database, name, is_kept
        self._is_posted = False
        self.value = FileRow()

        def read(state: State) -> FileRow | None:
            if row := state.execute("SELECT version, fingerprint, process FROM file_state WHERE name = ?", (name,)).fetchone():
                return FileRow(row[0], row[1], json.loads(row[2]))
            return None

        try:
            self.value = database.read(read) or self.value
        except Unusable as error:
            log.warning("reading the state of %s failed: %s; the first change may reload HAProxy", name, error)
        self._written = self.value

    def set(self, **changes: Any) -> None:
        """Change members of the row and schedule its write."""
        self.value = replace(self.value, **changes)
        if self._is_kept and not self._is_posted and self.value != self._written:
            self._is_posted = True
            self._database.post(self._write)

    async def flush(self) -> None:
        """Wait until each scheduled write survives a kill of this process, or the disk has refused it."""
        with suppress(Unusable):
            await self._database.catch_up(TABLES.part)

    def delete(self) -> None:
        """Delete the row, because the file was deleted."""

        def delete(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("DELETE FROM file_state WHERE name = ?", (self._name,))

        self.value = self._written = FileRow()
        self._database.post(delete)

    def _write(self, state: State) -> None:
        value = self.value
        with state.transaction(is_synced=False):
            row = (self._name, value.version, value.fingerprint, json.dumps(dict(value.process)))
            state.execute("INSERT OR REPLACE INTO file_state VALUES (?, ?, ?, ?)", row)
        self._written, self._is_posted = value, False
        # A change during this write has scheduled no write of its own.
        self.set()


def fingerprint(data: bytes) -> str:
    """Return the length and the MD5 checksum of a file, as `LENGTH-MD5`. The checksum excludes a checksum line at the beginning."""
    checked = data.partition(b"\n")[2] if checksum_of(data) else data
    return f"{len(data)}-{md5(checked, usedforsecurity=False).hexdigest()}"


def stamped_fingerprint(stamped: Stamped) -> str:
    """Return the `fingerprint` of a text with a header. It is taken from the checksum in the header if possible, which is faster."""
    return fingerprint(stamped.data) if is_joined(stamped.document) else f"{stamped.size}-{stamped.checksum}"


def text_of(stamped: Stamped) -> ConfigurationText:
    """Return a text that has a header, together with its fingerprint."""
    return ConfigurationText(stamped.document, stamped_fingerprint(stamped))


# Nanoseconds. The kernel's clock for files advances every 10 ms, or more often.
_TICK = 20_000_000
Result = TypeVar("Result")


class Overtaken(Exception):
    """The document, or a file that it refers to, was replaced after the change was prepared."""

    def __str__(self) -> str:
        return "the file was changed meanwhile"


class FileReading(NamedTuple):
    """One read of the file."""

    # The stamp, and whether it is settled: any later write must change it.
    seen: tuple[FileStamp | FileStamps | None, bool]
    data: bytes
    # None if the file holds the known text.
    document: Document | None


class Current:
    """The configuration in the file. Call `open` before anything else.

    `stamp` adds the header to a text, `outline` defines where its sections begin. `edited` is called after an edit by another process, with
    the document and the version before the edit.
    """

    def __init__(
        self,
        file: ConfigFiles,
        row: StateRow,
        stamp: Stamp = header.with_header,
        outline: Outline = CONFIGURATION,
        edited: "Callable[[Current, Document, int], None]" = lambda current, before, version: None,
    ) -> None:
        self._edited = edited
        self.file, self._row, self.stamp, self._outline = file, row, stamp, outline
        self.document = Document("", ())
        self.version = header.FIRST_VERSION
        # Whether the next write has the banner lines. A commit may change this; reading the file sets it to True again.
        self.banner = True
        # The number of edits by other processes.
        self.edits = 0
        self.fingerprint = ""
        self._seen: FileStamp | FileStamps | None = None
        self._is_settled = False
        self._is_installing = False
        # Whether a write has failed; the file may not have been restored either.
        self._is_torn = False
        # Advanced by every change of the members above. A read that began under another number is out of date.
        self._turn = 0
        # The text that a commit may write next.
        self._expected: Stamped | None = None
        self._works: set[asyncio.Task[Any]] = set()

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def text(self) -> ConfigurationText:
        return ConfigurationText(self.document, self.fingerprint)

    def open(self) -> bool:
        """Read the file and its version. Return whether the file is unchanged since this server last knew it. Raises Unreadable. Blocks."""
        return self._open(self._read())

    async def open_in_thread(self) -> bool:
        """Read the file and its version as `open` does, but in a thread."""
        turn = -1
        while turn != self._turn:
            turn = self._turn
            reading = await asyncio.to_thread(self._read)
        return self._open(reading)

    def notice(self) -> bool:
        """If another process has edited the file, make its text the next version. Return whether there was an edit. Raises Unreadable.

        Blocks.
        """
        return not self._is_as_known() and self._adopt(self._compare())

    async def notice_in_thread(self) -> bool:
        """Detect an edit as `notice` does, but read the file in a thread, so that a large file does not block the event loop."""
        while not self._is_as_known():
            turn = self._turn
            # Restoring a torn file writes it, which nothing else may do meanwhile.
            reading = self._read() if self._is_torn else await asyncio.to_thread(self._compare)
            if turn == self._turn:
                return self._adopt(reading)
        return False

    def expect_text(self, stamped: Stamped) -> None:
        """Record a text that a commit may write next, so that it does not count as an edit by another process."""
        self._expected = stamped

    async def unless_overtaken(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await work on the current document. If another document becomes current, cancel the work and raise Overtaken."""
        task, own = asyncio.ensure_future(work), asyncio.current_task()
        self._works.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if own and own.cancelling():
                task.cancel()
                raise
            raise Overtaken from None
        finally:
            self._works.discard(task)

    @property
    def is_settled(self) -> bool:
        """Whether any later write must change the file's stamp. Until this is true, `notice` reads the file again.

        A file that this server has just replaced is settled at once, because no other write gives the file the same timestamp.
        """
        return self._is_settled

    def changed_stamp(self) -> FileStamp | FileStamps | None:
        """Return the stamp of the file if it differs from the known stamp; None if not, or while a commit replaces the file."""
        seen = self.file.read_stamp()
        return None if seen == self._seen or self._is_installing else seen

    def prepare(self, document: Document, version: int, banner: bool, name: str) -> tuple[Stamped, Drafts]:
        """Write a document, with `version` in its header, to a draft called `name`. Raises WriteFailed. Blocks."""
        stamped = self.stamp(document, version, banner=banner)
        return stamped, self.file.draft(stamped.document, name)

    async def install(self, stamped: Stamped, draft: Drafts, banner: bool) -> None:
        """Rename a draft onto the file and make its document current.

        Raises WriteFailed, and EditedMeanwhile if another process has edited the file.
        """
        self._is_installing = True
        self._turn += 1
        try:
            await asyncio.to_thread(draft.install, lambda: self.file.read_stamp() == self._seen)
            self.banner = banner
            seen, is_settled = self._stamp_now()
            self._set(stamped.document, stamped.version, stamped_fingerprint(stamped), (seen, is_settled or draft.is_installed_as(seen)))
        except WriteFailed:
            self._is_torn, self._is_settled = True, False
            raise
        finally:
            self._is_installing = False
            self._turn += 1

    # -- reading

    def _is_as_known(self) -> bool:
        return self._is_installing or (self._is_settled and self.file.read_stamp() == self._seen)

    def _compare(self) -> FileReading:
        """Read the file as `_read` does, or only compare it with the known text if that is enough."""
        seen, document = self._stamp_now(), self.document
        return FileReading(seen, b"", None) if not self._is_torn and self.file.contains_only(document) else self._read()

    def _read(self) -> FileReading:
        seen, data = self._stamp_now(), self.file.read()
        if self._is_torn and fingerprint(data) != self.fingerprint and self.file.restore_torn():
            seen, data = self._stamp_now(), self.file.read()
        is_known = fingerprint(data) == self.fingerprint
        document = None if is_known else patches.with_shared_sections(Document.parse(data, outline=self._outline), self.document)
        return FileReading(seen, data, document)

    def _stamp_now(self) -> tuple[FileStamp | FileStamps | None, bool]:
        """Return the file's stamp, and whether any later write must change it."""
        now, seen = time.time_ns(), self.file.read_stamp()
        return seen, seen is None or now - seen.written > _TICK

    # -- changing what is known

    def _open(self, reading: FileReading) -> bool:
        document = self.document if reading.document is None else reading.document
        is_known = fingerprint(reading.data) == self._row.value.fingerprint
        self._set_read(document, self._row.value.version if is_known else header.version_of(document), reading)
        self._is_torn = False
        return is_known

    def _adopt(self, reading: FileReading) -> bool:
        """Make the text that was read current; return whether it is an edit by another process."""
        self._is_torn = False
        if (document := reading.document) is None:
            self._seen, self._is_settled = reading.seen
            return False
        if self._expected and fingerprint(reading.data) == stamped_fingerprint(self._expected):
            self._set_read(document, self._expected.version, reading)
            return False
        before, version = self.document, self.version
        self._set_read(document, max(version, header.version_of(document)) + 1, reading)
        self.edits += 1
        self._edited(self, before, version)
        return True

    def _set_read(self, document: Document, version: int, reading: FileReading) -> None:
        self.banner = True
        self._set(document, version, fingerprint(reading.data), reading.seen)

    def _set(self, document: Document, version: int, mark: str, seen: tuple[FileStamp | FileStamps | None, bool]) -> None:
        self._turn += 1
        if document is not self.document:
            for work in self._works:
                work.cancel()
        self.document, self.version, self.fingerprint = document, version, mark
        self._seen, self._is_settled = seen
        self._row.set(version=version, fingerprint=mark)
