"""Record the stored files whose current content the worker has not loaded yet, with their former contents.

The worker reads stored files when it starts. A changed file is applied to the worker by runtime commands, or later by a reload. Until then
the ledger has an entry for the file. The entry has the content that the worker has read (`former`), so that a failed reload can restore it.
During a change it also has the content from before the change (`before`), so that the change can be undone after a refusal or a crash.

An entry is synced to disk before its file is written. All other writes are queued: an obsolete entry on disk only makes the next process
repeat work. Entries and contents are rows of keys.db, since a content may be a private key.
"""

import asyncio
import json
import logging
import os
import stat
import time
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import NamedTuple

from haproxy_native.disk import path_errors
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.file import ConfigFile
from haproxy_native.errors import Unusable, WriteFailed
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)
WAITING, SKIPPED = "waiting", "skipped"
TABLES = Tables(
    "stored_files",
    """\
CREATE TABLE ledger (id INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE former (
    id INTEGER PRIMARY KEY AUTOINCREMENT, mode INTEGER NOT NULL, user INTEGER NOT NULL, user_group INTEGER NOT NULL, data BLOB NOT NULL
);
""",
    are_keys=True,
)

# Mode, user, group and content of a file.
Row = tuple[int, int, int, bytes]


class FormerContent(NamedTuple):
    """The stored content of a file: the id of its row, and a digest of the content."""

    id: int
    digest: str


# The file did not exist.
ABSENT = FormerContent(0, "")


@dataclass(frozen=True)
class PendingFile:
    """A file whose current content the worker does not have."""

    # The name of its store.
    store: str
    # The content that the worker has.
    former: FormerContent
    # WAITING if a reload is scheduled for the file, SKIPPED if the next reload reads it, empty if only a change is in progress.
    state: str = ""
    # During a change: what the file contained when the change began.
    before: FormerContent | None = None
    # When the file was last written, in Unix nanoseconds.
    since: int = 0
    # An id that all files of one change share.
    set: str = ""
    # The fingerprint of the configuration that the change is about to replace; empty if the configuration stays.
    text: str = ""
    # Whether the change deletes the file, as its last step.
    goes: bool = False


class Ledger:
    """Stores the entries, by the path of the file. Call `open` before anything else.

    `begin`, `restore` and `undo` raise WriteFailed. All other writes are queued until the disk accepts them.
    """

    def __init__(self, database: Database, journals: Path) -> None:
        self._database, self._journals = database, journals
        self.entries: dict[str, PendingFile] = {}
        self._applied: dict[str, int] = {}
        self._is_read = False
        database.declare(TABLES)

    def open(self) -> None:
        """Read the entries of the previous server process. Blocks."""
        try:
            self._database.read(self._read)
        except Unusable as error:
            log.error("reading which stored files wait for a reload failed: %s", error)

    def _read(self, state: State) -> None:
        if row := state.keys.execute("SELECT data FROM ledger").fetchone():
            stored = json.loads(row[0])
            entries: dict[str, PendingFile] = {}
            for path, members in stored["owed"].items():
                known = {field.name: members[field.name] for field in fields(PendingFile) if field.name in members}
                formers = {name: FormerContent(*known[name]) for name in ("former", "before") if known[name]}
                entries[path] = PendingFile(**{**known, **formers})
            self.entries, self._applied = entries, stored["told"]
        self._is_read = True

    @property
    def interrupted(self) -> list[list[str]]:
        """The changes that were in progress when the process ended, each as the paths of its files."""
        changes: dict[str, list[str]] = {}
        for path, entry in self.entries.items():
            if entry.before is not None:
                changes.setdefault(entry.set or path, []).append(path)
        return list(changes.values())

    @property
    def waits(self) -> bool:
        """Whether a reload is scheduled for a file."""
        return any(entry.state == WAITING for entry in self.entries.values())

    async def begin(self, stores: Mapping[Path, str], text: str = "", to_delete: Collection[Path] = ()) -> None:
        """Add entries for the files of a change that is about to begin. They are on disk when this returns. Raises WriteFailed.

        `stores`: the name of each file's store. `text`: as in PendingFile. `to_delete`: the files that the change deletes.
        """
        set_, entries = str(uuid.uuid4()), dict[str, PendingFile]()

        def enter(state: State) -> None:
            if not self._is_read:
                self._read(state)
            entries.update(self.entries)
            with state.keys.transaction():
                for path, store in stores.items():
                    before = _copy_content(state, path)
                    known = self.entries.get(str(path)) or PendingFile(store, before)
                    entries[str(path)] = replace(known, before=before, set=set_, text=text, goes=path in to_delete)
                _write(self._data(entries), state)

        try:
            await self._database.store(enter)
        except Unusable as error:
            raise WriteFailed(error.detail) from error
        self.entries = entries

    def remove(self, *paths: Path) -> None:
        """Remove the entries of files whose current content the worker has."""
        if [entry for path in paths if (entry := self.entries.pop(str(path), None))]:
            self._applied |= {str(path): _written(path) for path in paths}
            self._save()

    def wait_for_reload(self, paths: Iterable[Path], state: str) -> None:
        """End the change of files that wait for a reload. `state`: WAITING or SKIPPED."""
        self._end({path: replace(self.entries[str(path)], state=state, since=_written(path)) for path in paths})

    async def restore(self, *paths: Path) -> None:
        """Restore the contents that files had when their change began, but do not end the change. Raises WriteFailed."""
        for path in reversed(paths):
            if not await asyncio.to_thread(self.is_untouched, path):
                await self._restore(path, self.entries[str(path)].before or ABSENT)

    async def undo(self, *paths: Path) -> None:
        """Restore the contents that files had when their change began, and end the change. Raises WriteFailed."""
        await self.restore(*paths)
        waiting = {path: entry for path in paths if (entry := self.entries[str(path)]).state}
        self.remove(*(path for path in paths if path not in waiting))
        self._end(waiting)

    def _end(self, entries: Mapping[Path, PendingFile]) -> None:
        """End changes whose files wait for a reload."""
        if entries:
            self.entries |= {str(path): replace(entry, before=None, set="", text="", goes=False) for path, entry in entries.items()}
            self._save()

    async def restore_all(self) -> list[str]:
        """Restore every file to the content that the worker has, and return the restored paths.

        A file that cannot be written is logged and stays in the ledger.
        """
        restored = []
        for path, entry in list(self.entries.items()):
            try:
                await self._restore(Path(path), entry.former)
                self.remove(Path(path))
                restored.append(path)
            except WriteFailed as error:
                log.error("restoring %s to what HAProxy has loaded failed: %s", path, error)
        return restored

    def loaded(self) -> None:
        """Remove every entry, because a worker has read all files."""
        if self.entries:
            self.entries, self._applied = {}, {}
            self._save()

    def loaded_by(self, worker: Worker) -> None:
        """Remove the entries of files that were written before the worker started."""
        for path, entry in list(self.entries.items()):
            if entry.before is None and worker.started_after(entry.since / 1e9):
                self.remove(Path(path))

    def was_read(self, path: Path, worker: Worker) -> bool:
        """Return whether the worker started after the file was last written."""
        return worker.started_after(_written(path) / 1e9)

    def is_known(self, path: Path, worker: Worker) -> bool:
        """Return whether the worker has the file's current content; False after an edit by another process."""
        return self._applied.get(str(path)) == _written(path) or self.was_read(path, worker)

    def is_untouched(self, path: Path) -> bool:
        """Return whether the file still has the content that it had when its change began. Blocks."""
        before = self.entries[str(path)].before or ABSENT
        if not path.exists():
            return before.digest == ""
        with path.open("rb") as file:
            return before.digest == file_digest(file, blake2b).hexdigest()

    def _data(self, entries: Mapping[str, PendingFile]) -> str:
        return json.dumps({"owed": {path: asdict(entry) for path, entry in entries.items()}, "told": self._applied})

    def _save(self) -> None:
        used = {former.id for entry in self.entries.values() for former in (entry.former, entry.before) if former}
        self._database.post(partial(_save, self._data(self.entries), used))

    async def _restore(self, path: Path, former: FormerContent) -> None:
        """Replace a file by a stored content, or delete it if the content is ABSENT.

        Raises WriteFailed, also if the content is no longer stored or does not match its digest.
        """

        def read(state: State) -> Row:
            row: Row | None = state.keys.execute("SELECT mode, user, user_group, data FROM former WHERE id = ?", (former.id,)).fetchone()
            if row is None or blake2b(row[3]).hexdigest() != former.digest:
                raise WriteFailed("the former content of the file is no longer stored")
            return row

        try:
            row = None if former == ABSENT else await self._database.run(read)
            await asyncio.to_thread(self._install, path, row)
        except OSError as error:
            raise WriteFailed(path_errors.failed(f"cannot restore {path}", error, path)) from error
        except Unusable as error:
            raise WriteFailed(error.detail) from error

    def _install(self, path: Path, row: Row | None) -> None:
        if row is None:
            return path.unlink(missing_ok=True)
        mode, user, group, data = row
        draft = ConfigFile(path, self._journals, mode=0o600).draft(data, str(uuid.uuid4()))
        try:
            if not path.exists():
                with suppress(OSError):
                    os.chown(draft.path, user, group)
                draft.path.chmod(mode)
            draft.install()
        finally:
            draft.discard()


def _write(data: str, state: State) -> None:
    state.keys.execute("INSERT OR REPLACE INTO ledger VALUES (1, ?)", (data,))


def _save(data: str, used: Collection[int], state: State) -> None:
    """Write the entries, and delete the contents that no entry uses."""
    with state.keys.transaction(is_synced=False):
        _write(data, state)
        unused = [(id_,) for (id_,) in state.keys.execute("SELECT id FROM former") if id_ not in used]
        state.keys.executemany("DELETE FROM former WHERE id = ?", unused)
    if unused:
        state.keys.release_room()


def _copy_content(state: State, path: Path) -> FormerContent:
    """Copy the content of a file into a new row. Raises WriteFailed if the file cannot be read."""
    try:
        with path.open("rb") as file:
            status, data = os.fstat(file.fileno()), file.read()
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        raise WriteFailed(path_errors.failed(f"cannot read {path}", error, path)) from error
    row = stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, data
    added = state.keys.execute("INSERT INTO former (mode, user, user_group, data) VALUES (?, ?, ?, ?)", row)
    return FormerContent(int(added.lastrowid or 0), blake2b(data).hexdigest())


def _written(path: Path) -> int:
    """Return when a file was last written, in Unix nanoseconds; the current time if there is no file."""
    seen = ConfigFile(path, path.parent).read_stamp()
    return seen.written if seen else time.time_ns()
