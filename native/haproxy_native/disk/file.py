"""The configuration file on disk: read as it is, replaced as a whole.

A new text is first a draft beside the file, where HAProxy can check it as it would find it; then it is renamed onto the file, keeping
owner, mode and extended attributes. Where that cannot be done it is written in place with a journal. A crash leaves the old text or
the new one.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from haproxy_native.disk import aside, ownership
from haproxy_native.disk.atomic import DraftFile, remove_drafts
from haproxy_native.disk.journal import Journal
from haproxy_native.errors import Touched, Unreadable, WriteFailed

_CANNOT_CREATE = (errno.EACCES, errno.EPERM, errno.EROFS)
_CANNOT_RENAME = (errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL)
# Some file systems keep whole seconds, FAT every other one: what has such a time may have been written until the next.
_SECOND, _COARSE = 1_000_000_000, 2_000_000_000
_NO_ATTRIBUTES = (errno.EOPNOTSUPP, errno.ENOSYS)


class Seen(NamedTuple):
    """What tells one state of a file from another without reading it.

    `written`: since when, at the latest, it is what it is. A rename and a copy keep the time of the last write, which is `modified`.
    """

    written: int
    size: int
    inode: int
    modified: int = 0


class ConfigFile:
    """`path` may be a symbolic link, where `within` is given to a file below that directory; `state` is the directory for journals;
    a file that is new gets `mode` and the group of its directory.

    `label` names the file in that directory, where others of its name may have theirs. `system` is `os`, or in tests one that fails.
    """

    def __init__(
        self, path: str | os.PathLike[str], state: Path, system: Any = os, *, mode: int = 0o644, label: str = "", within: Path | None = None
    ) -> None:
        self.path, self.state, self.system, self.mode = Path(path), state, system, mode
        self.label, self.within = label or self.path.name, within

    @property
    def target(self) -> Path:
        """Raises OSError for a link that leads out of `within`."""
        target = Path(os.path.realpath(self.path))
        if self.within and not target.is_relative_to(os.path.realpath(self.within)):
            raise OSError(errno.EXDEV, "a link leads out of its directory", str(self.path))
        return target

    @property
    def journal(self) -> Journal:
        return Journal(self.state / f"{self.label}.journal", self.system)

    def read(self) -> bytes:
        """Raises Unreadable."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise Unreadable(f"Cannot read {self.path}: {error.strerror}") from error

    def seen(self) -> Seen | None:
        """Returns the file's stamp; None if it does not exist."""
        try:
            status, of_link = os.stat(self.path), os.lstat(self.path)
        except OSError:
            return None
        written = latest(max(status.st_mtime_ns, status.st_ctime_ns, of_link.st_ctime_ns))
        return Seen(written, status.st_size, status.st_ino, status.st_mtime_ns)

    def recover(self) -> bool:
        """Finishes what a crash cut off: True when a half-written file was completed. Removes drafts that no process holds."""
        target = self.target
        remove_drafts(target.parent, target.name)
        remove_drafts(self.state, self.label)
        return self.journal.replay()

    def draft(self, data: bytes | Iterable[bytes], name: str) -> "Draft":
        """The text under a name of its own, a UUID: `aside`, beside the file or, where that is forbidden, in the state directory."""
        try:
            if place := aside.place.get():
                return Draft(self, place / f".{self.label}.{name}", data)
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
            return WriteFailed(ownership.failed(what, error, self.state, "give it write access to that directory"))
        return WriteFailed(ownership.failed(what, error, Path(os.path.realpath(self.path))))


class Draft:
    """A text on its way into the file. `dated`: its time of modification, once it has one that no later write gives it."""

    dated = 0

    def __init__(self, file: ConfigFile, path: Path, data: bytes | Iterable[bytes]) -> None:
        self.file, self.path, self._system = file, path, file.system
        self._is_synced = False
        self._draft = DraftFile(path, file.system)
        try:
            self._faithful = self._take_over_attributes()
            for piece in (data,) if isinstance(data, bytes) else data:
                self._draft.write(piece)
        except OSError:
            self.discard()
            raise

    def append(self, data: bytes) -> None:
        """More of a text that comes in pieces. Raises WriteFailed."""
        self._is_synced = False
        try:
            self._draft.write(data)
        except OSError as error:
            raise self.file.failure(error) from error

    def sync(self) -> None:
        """Returns when the content is on disk, so that `install` need not wait for it. Raises WriteFailed."""
        try:
            self._date()
            self._draft.sync()
        except OSError as error:
            raise self.file.failure(error) from error
        self._is_synced = True

    def install(self, untouched: Callable[[], bool] = lambda: True) -> None:
        """Makes it the file's content, if at the last moment that is still `untouched`.

        Raises WriteFailed and Touched, with the old content in place.
        """
        assert not aside.place.get(), "a draft that is only looked at"
        try:
            if not self._rename(untouched):
                self._write_in_place(untouched)
        except OSError as error:
            raise self.file.failure(error) from error
        finally:
            self.discard()

    def close(self) -> None:
        """Closes the draft, which can only be read then."""
        self._draft.close()

    def discard(self) -> None:
        self._draft.discard()

    def _rename(self, untouched: Callable[[], bool]) -> bool:
        target = self.file.target
        if self.path.parent != target.parent or not (self._faithful or not os.access(target, os.W_OK)):
            return False
        if not self._is_synced:
            self._date()
            self._draft.sync()
        self._refuse_touched(untouched)
        try:
            self._draft.put_in_place(target)
        except OSError as error:
            if error.errno not in _CANNOT_RENAME:
                raise
            return False
        return True

    def _date(self) -> None:
        """The kernel dates writes by its clock for files, whose ticks are milliseconds apart; this is a moment between two of them."""
        now = time.time_ns()
        with suppress(OSError):
            self._system.utime(self._draft.handle, ns=(now, now))
            self.dated = now

    def _refuse_touched(self, untouched: Callable[[], bool]) -> None:
        if not untouched():
            raise Touched(f"{self.file.path} has just been edited by another process")

    def _write_in_place(self, untouched: Callable[[], bool]) -> None:
        self._refuse_touched(untouched)
        target = self.file.target
        self.file.journal.write(str(target), target.read_bytes(), self.path.read_bytes())

    def _take_over_attributes(self) -> bool:
        """Owner, mode and extended attributes, as far as this process may set them; False where it may not set all."""
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
            # Giving a file away clears bits of its mode.
            steps += [
                lambda: self._system.fchown(self._draft.handle, old.st_uid, -1),
                lambda: self._system.fchmod(self._draft.handle, mode),
            ]
        # Each of them, also after one that is not.
        permitted = [_is_permitted(step) for step in steps]
        return all(permitted)

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


def _is_permitted(step: Callable[[], object]) -> bool:
    try:
        step()
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES):
            raise
        return False
    return True


def latest(moment: int) -> int:
    """When at the latest something happened that a file system dates so, in nanoseconds."""
    return moment if moment % _SECOND else moment + _COARSE
