"""The current configuration: its document, version and fingerprint, and how edits of the file from outside are noticed.

The three always agree. A text that was edited outside becomes the next version as it is, without being rewritten.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.file import Seen
from haproxy_native.disk.files import ConfigFiles, Drafts, SeenAll
from haproxy_native.editing import header, patches
from haproxy_native.editing.header import Stamp, Stamped, checksum_of
from haproxy_native.errors import Unusable, WriteFailed
from haproxy_native.process_state import Load, ProcessState, Text
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.outline import Outline
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
class Row:
    """A file as it was last read or written."""

    version: int = 0
    fingerprint: str = ""
    # What `process_state.to_row` returns; empty for a file that HAProxy does not read as its configuration.
    process: Mapping[str, Any] = field(default_factory=dict)


class StateRow:
    """The row of the database with the version of a file and, for haproxy.cfg, the state of the process that reads it.

    `value` is the row in memory; with `is_kept=False` it is never written. Writes are queued and do not delay the change, except where
    `flush` is awaited. If a kill loses one, the next change reloads HAProxy.
    """

    def __init__(self, database: Database, name: str, *, is_kept: bool = True) -> None:
        self._database, self._name, self._is_kept = database, name, is_kept
        self._is_posted = False
        self.value = Row()
        try:
            self.value = database.read(partial(_read, name)) or self.value
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
        """Return once all scheduled writes survive a kill of this process, or the disk has refused them."""
        with suppress(Unusable):
            await self._database.catch_up(TABLES.part)

    def delete(self) -> None:
        """Delete the row, since the file is gone."""
        self.value = self._written = Row()
        self._database.post(partial(_delete, self._name))

    def _write(self, state: State) -> None:
        value = self.value
        with state.transaction(is_synced=False):
            row = (self._name, value.version, value.fingerprint, json.dumps(dict(value.process)))
            state.execute("INSERT OR REPLACE INTO file_state VALUES (?, ?, ?, ?)", row)
        self._written, self._is_posted = value, False
        # Whatever was set during the write has scheduled none.
        self.set()


class TextRows:
    """The texts that the state of the process refers to, except the one in the file.

    `copy`: a file for operators, never read here, that gets the text that a failed reload restores, with owner and mode of `like`.
    """

    def __init__(self, database: Database, copy: Path | None = None, like: Path | None = None, *, is_kept: bool = True) -> None:
        self._database, self._copy, self._like, self._is_kept = database, copy, like, is_kept
        self._is_posted = False
        # What a failed reload restores, and the fingerprint of what is written of it.
        self._last_good: Text | None = None
        self._written = ""

    def read(self) -> tuple[Text | None, list[Load]]:
        """Return the text that a failed reload restores, and the reloads without an outcome, oldest first. Blocks."""
        last_good, loads = None, list[Load]()
        with suppress(Unusable):
            last_good, loads = self._database.read(_read_texts)
        self._written = last_good.fingerprint if last_good else ""
        return last_good, loads

    def save_last_good(self, state: ProcessState) -> None:
        """Schedule the write of the text that a failed reload restores, unless it is written already."""
        self._last_good = state.last_good
        if self._last_good and self._last_good.fingerprint != self._written and self._is_kept and not self._is_posted:
            self._is_posted = True
            self._database.post(self._write_last_good)

    def _write_last_good(self, state: State) -> None:
        if text := self._last_good:
            with state.transaction(is_synced=False):
                state.execute("INSERT OR REPLACE INTO last_good VALUES (1, ?, ?)", (text.fingerprint, text.document.data))
            self._written = text.fingerprint
            self._write_copy(text)
        self._is_posted = False

    def _write_copy(self, text: Text) -> None:
        try:
            if self._copy:
                self._copy.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
                write_atomically(self._copy, text.document.pieces(), like=self._like, durable=False)
        except OSError as error:
            log.warning("writing %s failed: %s", self._copy, error.strerror)

    def save_loads(self, before: ProcessState, after: ProcessState) -> None:
        """Schedule the write of the reloads that differ between two states."""
        known = {load.began: load for load in before.loads}
        for load in after.loads if self._is_kept else ():
            if load is not known.get(load.began):
                self._database.post(partial(_store_load, load))
        if before.loads and not after.loads and self._is_kept:
            self._database.post(_delete_loads)


def _read(name: str, state: State) -> Row | None:
    if row := state.execute("SELECT version, fingerprint, process FROM file_state WHERE name = ?", (name,)).fetchone():
        return Row(row[0], row[1], json.loads(row[2]))
    return None


def _delete(name: str, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM file_state WHERE name = ?", (name,))


def _read_texts(state: State) -> tuple[Text | None, list[Load]]:
    last_good = state.execute("SELECT fingerprint, data FROM last_good").fetchone()
    loads = [
        Load(Text(Document.parse(data), mark), began, target=None if target is None else Document.parse(target))
        for began, mark, data, target in state.execute("SELECT began, fingerprint, data, target FROM open_load ORDER BY began")
    ]
    return Text(Document.parse(last_good[1]), last_good[0]) if last_good else None, loads


def _store_load(load: Load, state: State) -> None:
    row = (load.began, load.text.fingerprint, load.text.document.data, load.target.data if load.target else None)
    with state.transaction(is_synced=False):
        state.execute("INSERT OR REPLACE INTO open_load VALUES (?, ?, ?, ?)", row)


def _delete_loads(state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM open_load")


def fingerprint(data: bytes) -> str:
    """Return the length and an MD5 checksum. A file with a checksum line has the same one, computed over what follows the line."""
    checked = data.partition(b"\n")[2] if checksum_of(data) else data
    return f"{len(data)}-{md5(checked, usedforsecurity=False).hexdigest()}"


def stamped_fingerprint(stamped: Stamped) -> str:
    """Return what `fingerprint` returns for the data, from the checksum that its header has already."""
    return fingerprint(stamped.data) if is_joined(stamped.document) else f"{stamped.size}-{stamped.checksum}"


def text_of(stamped: Stamped) -> Text:
    return Text(stamped.document, stamped_fingerprint(stamped))


# Nanoseconds; the kernel's clock for files advances every 10 ms, or more often.
_TICK = 20_000_000
Result = TypeVar("Result")


class Overtaken(Exception):
    """The document or a file that it refers to was replaced after the change was prepared."""

    def __str__(self) -> str:
        return "the file was changed meanwhile"


class Reading(NamedTuple):
    """What was read: the file's stamp before the read, its bytes, and the document, None where the bytes are the known ones."""

    seen: tuple[Seen | SeenAll | None, bool]
    data: bytes
    document: Document | None


class Current:
    """`edited` is called when an edit from outside was taken over, with the document and version before.

    `banner`: whether our next write brings the banner lines; a pushed text decides for itself until the file is read again.

    `stamp` puts the header on a text, `outline` tells where its sections begin.
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
        self.banner = True
        # The number of edits from outside that were taken over.
        self.edits = 0
        self.fingerprint = ""
        self._seen: Seen | SeenAll | None = None
        self._settled = False
        self._installing = False
        # A write failed, and restoring the file may have failed, too.
        self._torn = False
        # Counts changes of what is known; a reading that began before the last one is out of date.
        self._turn = 0
        # What a commit is about to make the file.
        self._coming: Stamped | None = None
        self._works: set[asyncio.Task[Any]] = set()

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def text(self) -> Text:
        return Text(self.document, self.fingerprint)

    def open(self) -> bool:
        """Reads the file and keeps its version; returns True if it is as it was last known. Blocks; raises Unreadable."""
        return self._opened(self._read())

    async def open_aside(self) -> bool:
        """Opens as `open` does, reading the file in a thread."""
        turn = -1
        while turn != self._turn:
            turn = self._turn
            reading = await asyncio.to_thread(self._read)
        return self._opened(reading)

    def notice(self) -> bool:
        """Takes over an edit from outside as the next version; returns False if there was none. Blocks; raises Unreadable."""
        return not self._is_as_known() and self._took_over(self._compared())

    async def notice_aside(self) -> bool:
        """Notices edits as `notice` does, reading the file in a thread so that a large one does not block the event loop.

        Raises Unreadable.
        """
        while not self._is_as_known():
            turn = self._turn
            # Putting a torn file back writes it, which nothing else may do meanwhile.
            reading = self._read() if self._torn else await asyncio.to_thread(self._compared)
            if turn == self._turn:
                return self._took_over(reading)
        return False

    def _opened(self, reading: Reading) -> bool:
        document = self.document if reading.document is None else reading.document
        known = fingerprint(reading.data) == self._row.value.fingerprint
        self._take(document, self._row.value.version if known else header.version_of(document), reading.data, reading.seen)
        self._torn = False
        return known

    def _is_as_known(self) -> bool:
        return self._installing or (self._settled and self.file.seen() == self._seen)

    def _compared(self) -> Reading:
        """Reads as `_read` does; a file that may only have been touched is not read as a whole."""
        seen, document = self._look(), self.document
        return Reading(seen, b"", None) if not self._torn and self.file.holds(document) else self._read()

    def _read(self) -> Reading:
        seen, data = self._look(), self.file.read()
        if self._torn and fingerprint(data) != self.fingerprint and self.file.mend():
            seen, data = self._look(), self.file.read()
        return Reading(seen, data, None if fingerprint(data) == self.fingerprint else self._parsed(data))

    def expects(self, stamped: Stamped) -> None:
        """A text that the file may hold next, by a commit: then it is no edit from outside."""
        self._coming = stamped

    def _took_over(self, reading: Reading) -> bool:
        """True if the text differs from the known one."""
        self._torn = False
        if (document := reading.document) is None:
            self._seen, self._settled = reading.seen
            return False
        if self._coming and fingerprint(reading.data) == stamped_fingerprint(self._coming):
            self._take(document, self._coming.version, reading.data, reading.seen)
            return False
        before, version = self.document, self.version
        self._take(document, max(version, header.version_of(document)) + 1, reading.data, reading.seen)
        self.edits += 1
        self._edited(self, before, version)
        return True

    async def unless_overtaken(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Awaits work on the current document; it is cancelled and Overtaken raised when another document becomes current."""
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
    def settled(self) -> bool:
        """True once any later write must change the file's timestamp; until it is more than 20 ms old `notice` compares the file again.

        A file that was replaced here has a timestamp that no other write gives it.
        """
        return self._settled

    def touched(self) -> Seen | SeenAll | None:
        """The file's stamp, where it differs from the known one; else None."""
        seen = self.file.seen()
        return None if seen == self._seen or self._installing else seen

    def prepare(self, document: Document, version: int, banner: bool, name: str) -> tuple[Stamped, Drafts]:
        """Writes the document under a version to a draft. Raises WriteFailed."""
        stamped = self.stamp(document, version, banner=banner)
        return stamped, self.file.draft(stamped.document, name)

    async def install(self, stamped: Stamped, draft: Drafts, banner: bool) -> None:
        """Makes the draft the file, and its document the current one. Raises WriteFailed."""
        self._installing = True
        self._turn += 1
        try:
            await asyncio.to_thread(draft.install, lambda: self.file.seen() == self._seen)
            self.banner = banner
            seen, settled = self._look()
            self._keep(stamped.document, stamped.version, stamped_fingerprint(stamped), (seen, settled or draft.shows(seen)))
        except WriteFailed:
            self._torn, self._settled = True, False
            raise
        finally:
            self._installing = False
            self._turn += 1

    def _parsed(self, data: bytes) -> Document:
        return patches.sharing(Document.parse(data, outline=self._outline), self.document)

    def _look(self) -> tuple[Seen | SeenAll | None, bool]:
        """The file's stamp, and whether a later write must change it: the kernel's clock for files advances every 10 ms at most."""
        now, seen = time.time_ns(), self.file.seen()
        return seen, seen is None or now - seen.written > _TICK

    def _take(self, document: Document, version: int, data: bytes, seen: tuple[Seen | SeenAll | None, bool]) -> None:
        self.banner = True
        self._keep(document, version, fingerprint(data), seen)

    def _keep(self, document: Document, version: int, mark: str, seen: tuple[Seen | SeenAll | None, bool]) -> None:
        self._turn += 1
        if document is not self.document:
            for work in self._works:
                work.cancel()
        self.document, self.version, self.fingerprint = document, version, mark
        self._seen, self._settled = seen
        self._row.set(version=version, fingerprint=mark)
