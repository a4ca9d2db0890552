"""The ledger of stored files that the worker has not read as they are, with their former contents.

A change is entered before its file is written, and removed when the worker has it, so that what is refused, interrupted or part of a
failed reload can be put back. Former contents are in a directory of their own, readable by this process only.
"""

import json
import logging
import os
import stat
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from haproxy_native.disk import ownership
from haproxy_native.disk.atomic import remove_drafts, write_atomically
from haproxy_native.disk.file import ConfigFile
from haproxy_native.errors import WriteFailed
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)
WAITING, SKIPPED = "waiting", "skipped"
# No file at all.
ABSENT = ""
_PIECE = 1 << 20


@dataclass(frozen=True)
class PendingFile:
    """`former` names the copy of what the worker has. `state`: WAITING where a reload is scheduled for the file, SKIPPED where the next
    reload reads it. During a change `before` names the copy of what the file held when it began. Files that are one change have the same
    `set`, and `text` is the fingerprint of the configuration that is replaced with them, empty where it stays; one that `goes` is deleted
    when all else is done. `since`: nanoseconds.
    """

    store: str
    former: str
    state: str = ""
    before: str | None = None
    since: int = 0
    set: str = ""
    text: str = ""
    goes: bool = False


class Ledger:
    """Kept in `stored.json` of a directory; `entries` by path. `begin`, `owe` and `undo` raise WriteFailed."""

    def __init__(self, directory: Path) -> None:
        self.path, self._former, self._journals = directory / "stored.json", directory / "former", directory
        self.entries: dict[str, PendingFile] = {}
        self._applied: dict[str, int] = {}

    def open(self) -> None:
        """Reads the ledger of an earlier process, and deletes copies that no entry names."""
        remove_drafts(self.path.parent, self.path.name)
        with suppress(OSError, ValueError, TypeError):
            stored = json.loads(self.path.read_bytes())
            self.entries, self._applied = {path: _pending(owed) for path, owed in stored["owed"].items()}, stored["told"]
        with suppress(OSError):
            for copy in self._former.iterdir():
                self._drop(copy.name)

    @property
    def interrupted(self) -> list[list[str]]:
        """The changes that were under way when the process ended, each as the paths of its files."""
        changes: dict[str, list[str]] = {}
        for path, owed in self.entries.items():
            if owed.before is not None:
                changes.setdefault(owed.set or path, []).append(path)
        return list(changes.values())

    @property
    def waits(self) -> bool:
        """True if a reload is scheduled for some file."""
        return any(owed.state == WAITING for owed in self.entries.values())

    def begin(self, stores: Mapping[Path, str], text: str = "", going: Collection[Path] = ()) -> None:
        """Enters a change of files that is about to begin; `text` and `going` as in PendingFile."""
        set_, entered = str(uuid.uuid4()), dict[str, PendingFile]()
        try:
            for path, store in stores.items():
                before = self._copy(path)
                former = self.entries.get(str(path)) or PendingFile(store, before)
                entered[str(path)] = replace(former, before=before, set=set_, text=text, goes=path in going)
        except WriteFailed:
            self._drop(*(file.before or ABSENT for file in entered.values()))
            raise
        self._enter(entered)

    def in_step(self, *paths: Path) -> None:
        """Removes the entries: the worker has the files as they are."""
        removed = [owed for path in paths if (owed := self.entries.pop(str(path), None))]
        if removed:
            self._applied |= {str(path): _written(path) for path in paths}
            self._settle()
            self._drop(*(name for owed in removed for name in (owed.former, owed.before or ABSENT)))

    def owe(self, paths: Iterable[Path], state: str) -> None:
        """Records that files are changed and the worker needs a reload for them."""
        self._end({path: replace(self.entries[str(path)], state=state, since=_written(path)) for path in paths})

    def restore(self, *paths: Path) -> None:
        """Puts files back to what they held when their change began, which stays entered."""
        for path in reversed(paths):
            if not self.is_untouched(path):
                self._put(path, self.entries[str(path)].before or ABSENT)

    def undo(self, *paths: Path) -> None:
        """Puts files back to what they held when their change began, and ends it."""
        self.restore(*paths)
        waiting = {path: owed for path in paths if (owed := self.entries[str(path)]).state}
        self.in_step(*(path for path in paths if path not in waiting))
        self._end(waiting)

    def _end(self, entries: Mapping[Path, PendingFile]) -> None:
        """Ends changes whose files wait for a reload."""
        if not entries:
            return
        copies = [owed.before or ABSENT for owed in entries.values()]
        self._enter({str(path): replace(owed, before=None, set="", text="", goes=False) for path, owed in entries.items()})
        self._drop(*copies)

    def put_back(self) -> list[str]:
        """Puts every file back to what the worker has; returns their paths. One that cannot be written stays in the ledger."""
        back = []
        for path, owed in list(self.entries.items()):
            try:
                self._put(Path(path), owed.former)
                self.in_step(Path(path))
                back.append(path)
            except WriteFailed as error:
                log.error("%s could not be put back to what HAProxy has loaded: %s", path, error)
        return back

    def loaded(self) -> None:
        """Removes every entry: a worker has read all files."""
        if self.entries:
            copies = [name for owed in self.entries.values() for name in (owed.former, owed.before or ABSENT)]
            self.entries, self._applied = {}, {}
            self._settle()
            self._drop(*copies)

    def loaded_by(self, worker: Worker) -> None:
        """Removes the entries of files that were written before the worker started."""
        for path, owed in list(self.entries.items()):
            if owed.before is None and worker.started_after(owed.since / 1e9):
                self.in_step(Path(path))

    def was_read(self, path: Path, worker: Worker) -> bool:
        """True if the worker started after the file was last written."""
        return worker.started_after(_written(path) / 1e9)

    def is_known(self, path: Path, worker: Worker) -> bool:
        """True if the worker has the file as it is; False after an edit from outside."""
        return self._applied.get(str(path)) == _written(path) or self.was_read(path, worker)

    def is_untouched(self, path: Path) -> bool:
        """True if a change that has begun has not been written to the file yet."""
        before = self.entries[str(path)].before
        copy = self._former / before if before else None
        if copy is None or not path.exists():
            return copy is None and not path.exists()
        return _same(path, copy)

    def _enter(self, entered: Mapping[str, PendingFile]) -> None:
        """Writes entries to disk and memory, or to neither. Raises WriteFailed."""
        entries = self.entries
        self.entries = {**entries, **entered}
        try:
            self._write()
        except WriteFailed:
            self.entries = entries
            self._drop(*(owed.before or ABSENT for owed in entered.values()))
            raise

    def _settle(self) -> None:
        """An entry too many on disk only makes the next process do again what is done."""
        try:
            self._write()
        except WriteFailed as error:
            log.warning("%s", error)

    def _write(self) -> None:
        data = {"owed": {path: asdict(owed) for path, owed in self.entries.items()}, "told": self._applied}
        try:
            self.path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(data, indent=2).encode() + b"\n")
        except OSError as error:
            raise WriteFailed(ownership.failed(f"cannot write {self.path}", error, self.path)) from error

    def _copy(self, path: Path) -> str:
        """A lasting copy with owner and mode; its name, ABSENT where there is nothing to copy."""
        name = str(uuid.uuid4())
        try:
            self._former.mkdir(mode=0o700, parents=True, exist_ok=True)
            with path.open("rb") as source:
                mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
                write_atomically(self._former / name, iter(lambda: source.read(_PIECE), b""), like=path, mode=mode)
        except FileNotFoundError:
            return ABSENT
        except OSError as error:
            self._drop(name, even_named=True)
            raise WriteFailed(ownership.failed(f"cannot keep what {path} holds in {self._former}", error, self._former)) from error
        return name

    def _put(self, path: Path, name: str) -> None:
        """Makes a file what a copy of it is."""
        if name == ABSENT:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        copy = self._former / name
        draft = ConfigFile(path, self._journals, mode=0o600).draft(b"", str(uuid.uuid4()))
        try:
            with copy.open("rb") as source:
                for piece in iter(lambda: source.read(_PIECE), b""):
                    draft.append(piece)
                if not path.exists():
                    _give(draft.path, os.fstat(source.fileno()))
            draft.install()
        except OSError as error:
            raise WriteFailed(ownership.failed(f"cannot put {path} back", error, path)) from error
        finally:
            draft.discard()

    def _drop(self, *names: str, even_named: bool = False) -> None:
        """Removes copies that no entry names."""
        named = set() if even_named else {name for owed in self.entries.values() for name in (owed.former, owed.before)}
        for name in names:
            if name and name not in named:
                with suppress(OSError):
                    (self._former / name).unlink()


def _pending(kept: Mapping[str, Any]) -> PendingFile:
    return PendingFile(**{field.name: kept[field.name] for field in fields(PendingFile) if field.name in kept})


def _give(file: int | Path, like: os.stat_result) -> None:
    with suppress(OSError):
        os.chown(file, like.st_uid, like.st_gid)
    os.chmod(file, stat.S_IMODE(like.st_mode))


def _written(path: Path) -> int:
    """Since when a file can be what it is."""
    seen = ConfigFile(path, path.parent).seen()
    return seen.written if seen else time.time_ns()


def _same(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        pieces: Iterator[tuple[bytes, bytes]] = iter(lambda: (first.read(_PIECE), second.read(_PIECE)), (b"", b""))
        return all(mine == theirs for mine, theirs in pieces)
