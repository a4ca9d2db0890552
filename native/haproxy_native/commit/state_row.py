"""Rows of the database that hold the version of a file and, for haproxy.cfg, the state of the process that reads it.

Writes are queued and do not delay the change, except where `flush` is awaited. If a kill loses one, the next change reloads HAProxy.
"""

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import md5
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing.header import Stamped, checksum_of
from haproxy_native.errors import Unusable
from haproxy_native.process_state import Load, ProcessState, Text
from haproxy_native.text.document import Document
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
    """The row of one file. `value` is the row in memory; with `is_kept=False` it is never written."""

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
