"""Read the configuration file, and replace it as a whole.

A new text is first written to a draft next to the file, where HAProxy can check it with the same relative paths. The draft is synced and
renamed onto the file, and the directory is synced. Owner, mode and extended attributes of the file stay. If a rename is impossible, as on a
bind mount or without write permission for the directory, the file is written in place with a journal. A crash leaves the old text or the
new one.
"""

import asyncio
import errno
import os
import stat
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from haproxy_native.disk import path_errors
from haproxy_native.disk.atomic import DraftFile, remove_drafts
from haproxy_native.disk.journal import FileJournal
from haproxy_native.errors import EditedMeanwhile, Unreadable, WriteFailed
from haproxy_native.scratch import Scratch

_CANNOT_CREATE = (errno.EACCES, errno.EPERM, errno.EROFS)
_CANNOT_RENAME = (errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL)
# Some file systems store times in whole seconds, FAT in steps of two seconds: the file may have been written up to the next step.
_SECOND, _COARSE = 1_000_000_000, 2_000_000_000
_NO_ATTRIBUTES = (errno.EOPNOTSUPP, errno.ENOSYS)
# The directory for drafts that are never installed; None for drafts that may be.
drafts_directory: ContextVar[Path | None] = ContextVar("drafts_directory", default=None)


class FileStamp(NamedTuple):
    """What tells two states of a file apart although the file is not read."""

    # The latest time, in Unix nanoseconds, at which the file may have changed. Includes the times of inode changes, since a rename and a
    # copy keep the time of the last write.
    written: int
    size: int
    inode: int
    # The time of the last write, in nanoseconds.
    modified: int = 0


class ConfigFile:
    """A file that is replaced as a whole.

    `path` may be a symbolic link. If `within` is given, the link must lead to a file below that directory. `state`: the directory for
    journals. A new file gets `mode`, and the group of its directory. `label` identifies the file in `state`, which has journals of several
    files, perhaps with the same name. `system` is `os`, or in tests an object whose functions fail.
    """

    def __init__(
        self, path: str | os.PathLike[str], state: Path, system: Any = os, *, mode: int = 0o644, label: str = "", within: Path | None = None
    ) -> None:
        self.path, self.state, self.system, self.mode = Path(path), state, system, mode
        self.label, self.within = label or self.path.name, within

    @property
    def target(self) -> Path:
        """The path of the file itself, with links resolved. Raises OSError if a link leads out of `within`."""
        target = Path(os.path.realpath(self.path))
        if self.within and not target.is_relative_to(os.path.realpath(self.within)):
            raise OSError(errno.EXDEV, "a link leads out of its directory", str(self.path))
        return target

    @property
    def journal(self) -> FileJournal:
        return FileJournal(self.state / f"{self.label}.journal", self.system)

    def read(self) -> bytes:
        """Return the content. Raises Unreadable."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise Unreadable(f"Cannot read {self.path}: {error.strerror}") from error

    def read_stamp(self) -> FileStamp | None:
        """Return the stamp; None if the file does not exist."""
        try:
            status, of_link = os.stat(self.path), os.lstat(self.path)
        except OSError:
            return None
        written = latest(max(status.st_mtime_ns, status.st_ctime_ns, of_link.st_ctime_ns))
        return FileStamp(written, status.st_size, status.st_ino, status.st_mtime_ns)

    def has_stamp(self, stamp: FileStamp | None) -> bool:
        return self.read_stamp() == stamp

    def recover(self) -> bool:
        """Finish a write that a crash has interrupted; return whether there was one. Deletes drafts that no process uses."""
        target = self.target
        remove_drafts(target.parent, target.name)
        remove_drafts(self.state, self.label)
        return self.journal.replay()

    def draft(self, data: bytes | Iterable[bytes], name: str) -> "Draft":
        """Write a text to a draft next to the file. If this process may not create files there, write it in the state directory.

        Within `drafts_aside`, the draft is in a temporary directory. `name`: a UUID. Raises WriteFailed.
        """
        try:
            if directory := drafts_directory.get():
                return Draft(self, directory / f".{self.label}.{name}", data)
            target = self.target
            try:
                return Draft(self, target.parent / f".{target.name}.{name}", data)
            except OSError as error:
                if error.errno not in _CANNOT_CREATE:
                    raise
            return Draft(self, self.state / f".{self.label}.{name}", data)
        except OSError as error:
            raise self.failure(error) from error

    def failure(self, error: OSError) -> WriteFailed:
        what = f"cannot write {error.filename or self.path}"
        if error.filename and Path(error.filename).parent == self.state:
            return WriteFailed(path_errors.failed(what, error, self.state, "give it write access to that directory"))
        return WriteFailed(path_errors.failed(what, error, Path(os.path.realpath(self.path))))


class Draft:
    """A new text of a file that is not installed yet."""

    dated = 0

    def __init__(self, file: ConfigFile, path: Path, data: bytes | Iterable[bytes]) -> None:
        self.file, self.path, self._system = file, path, file.system
        self._is_synced = False
        self._draft = DraftFile(path, file.system)
        try:
            self._has_all_attributes = self._copy_attributes()
            for piece in (data,) if isinstance(data, bytes) else data:
                self._draft.write(piece)
        except OSError:
            self.discard()
            raise

    def append(self, data: bytes) -> None:
        """Append more of the text. Raises WriteFailed."""
        self._is_synced = False
        try:
            self._draft.write(data)
        except OSError as error:
            raise self.file.failure(error) from error

    def sync(self) -> None:
        """Block until the content is on disk, so that `install` need not wait for that. Raises WriteFailed."""
        try:
            self._date()
            self._draft.sync()
        except OSError as error:
            raise self.file.failure(error) from error
        self._is_synced = True

    def install(self, untouched: Callable[[], bool] = lambda: True) -> None:
        """Replace the content of the file by the draft. Raises WriteFailed and EditedMeanwhile; the file then has its old content.

        `untouched` is called immediately before the replacement, and returns False if another process has edited the file.
        """
        assert not drafts_directory.get(), "a draft that must not become a file"
        try:
            if not self._rename(untouched):
                self._refuse_edited(untouched)
                target = self.file.target
                self.file.journal.write(str(target), target.read_bytes(), self.path.read_bytes())
        except OSError as error:
            raise self.file.failure(error) from error
        finally:
            self.discard()

    def close(self) -> None:
        """Close the draft, which can only be read afterwards."""
        self._draft.close()

    def discard(self) -> None:
        self._draft.discard()

    def _rename(self, untouched: Callable[[], bool]) -> bool:
        """Rename the draft onto the file. Return False if that is impossible, or would lose attributes of a file that can be written."""
        target = self.file.target
        if self.path.parent != target.parent or (not self._has_all_attributes and os.access(target, os.W_OK)):
            return False
        if not self._is_synced:
            self._date()
            self._draft.sync()
        self._refuse_edited(untouched)
        try:
            self._draft.put_in_place(target)
        except OSError as error:
            if error.errno not in _CANNOT_RENAME:
                raise
            return False
        return True

    def _date(self) -> None:
        """Set a modification time that no other write has. The kernel dates writes by a clock that advances only every few milliseconds."""
        now = time.time_ns()
        with suppress(OSError):
            self._system.utime(self._draft.handle, ns=(now, now))
            self.dated = now

    def _refuse_edited(self, untouched: Callable[[], bool]) -> None:
        if not untouched():
            raise EditedMeanwhile(f"{self.file.path} has just been edited by another process")

    def _copy_attributes(self) -> bool:
        """Copy owner, mode and extended attributes of the file to the draft. Return whether this process may set all of them."""
        target = self.file.target
        try:
            old, own = os.stat(target), os.fstat(self._draft.handle)
        except FileNotFoundError:
            with suppress(OSError):
                self._system.fchown(self._draft.handle, -1, os.stat(target.parent).st_gid)
            self._system.fchmod(self._draft.handle, self.file.mode)
            return True
        mode = stat.S_IMODE(old.st_mode)
        steps: list[Callable[[], object]] = [lambda: self._system.fchmod(self._draft.handle, mode), lambda: self._copy_extended(target)]
        if old.st_gid != own.st_gid:
            steps.insert(0, lambda: self._system.fchown(self._draft.handle, -1, old.st_gid))
        if old.st_uid != own.st_uid:
            # A change of the owner clears bits of the mode.
            steps += [
                lambda: self._system.fchown(self._draft.handle, old.st_uid, -1),
                lambda: self._system.fchmod(self._draft.handle, mode),
            ]
        are_permitted = True
        for step in steps:
            try:
                step()
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EACCES):
                    raise
                are_permitted = False
        return are_permitted

    def _copy_extended(self, target: Path) -> None:
        try:
            names = os.listxattr(target)
        except OSError as error:
            if error.errno not in _NO_ATTRIBUTES:
                raise
            return
        mine = {name: os.getxattr(self._draft.handle, name) for name in os.listxattr(self._draft.handle)}
        for name in names:
            value = os.getxattr(target, name)
            if mine.get(name) != value:
                self._system.setxattr(self._draft.handle, name, value)


def latest(moment: int) -> int:
    """Return the latest moment for which a file system may store this timestamp, both in nanoseconds."""
    return moment if moment % _SECOND else moment + _COARSE


@asynccontextmanager
async def drafts_aside(*, wanted: bool = True) -> AsyncIterator[None]:
    """Within the body, create drafts in a temporary directory. Such drafts cannot be installed.

    With `wanted=False`, change nothing. Raises Unusable if the temporary directory cannot be created.
    """
    if not wanted or drafts_directory.get():
        yield
        return
    scratch = await asyncio.to_thread(Scratch, "check")
    token = drafts_directory.set(scratch.path)
    try:
        yield
    finally:
        drafts_directory.reset(token)
        await asyncio.to_thread(scratch.remove)
