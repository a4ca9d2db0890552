"""Write files atomically: a draft next to the file is renamed onto it, so that a crash leaves the former content or the new one.

A draft is named `.NAME.UUID` and has mode 0600 while it is written. Its process locks it (flock(2)), so that `remove_drafts` deletes only
drafts that a killed process has left.
"""

import fcntl
import os
import re
import stat
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DRAFT = re.compile(rf"\.(.+)\.{_UUID}", re.DOTALL)


class DraftFile:
    """A new file at `path`, open for writing. `system` is `os`, or in tests one that fails.

    All methods except `close` and `discard` raise OSError.
    """

    def __init__(self, path: Path, system: Any = os) -> None:
        self.path, self._system = path, system
        self.handle: int = system.open(path, _NEW, 0o600)
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX)
        except OSError:
            self.discard()
            raise

    def write(self, data: bytes) -> None:
        """Append data. Raises OSError."""
        write_all(self._system, self.handle, data)

    def sync(self) -> None:
        """Block until the content is on disk."""
        self._system.fsync(self.handle)

    def put_in_place(self, target: Path, *, durable: bool = True) -> None:
        """Rename the draft onto the target. A durable rename is on disk when this returns."""
        self._system.replace(self.path, target)
        if durable:
            sync_directory(self._system, target.parent)

    def close(self) -> None:
        """Close the draft, which can only be read afterwards."""
        handle, self.handle = self.handle, -1
        if handle >= 0:
            with suppress(OSError):
                self._system.close(handle)

    def discard(self) -> None:
        """Close the draft, and delete it unless it was renamed."""
        self.close()
        with suppress(OSError):
            self._system.unlink(self.path)


def write_atomically(
    path: Path,
    data: bytes | Iterable[bytes],
    *,
    like: Path | None = None,
    mode: int | None = None,
    durable: bool = True,
    system: Any = os,
) -> None:
    """Create or replace a file. Raises OSError; the file then has its former content.

    The file gets the owner and group of `like`, as far as this process may set them. Its mode is `mode`. Without `mode`, it is the mode of
    `like` without execute permission. Without both, it is 0600. A `durable` write is on disk when this returns.
    """
    try:
        draft = DraftFile(path.with_name(f".{path.name}.{uuid.uuid4()}"), system)
        try:
            _set_owner_and_mode(draft.handle, like, mode_like(like) if mode is None else mode, system)
            for piece in (data,) if isinstance(data, bytes) else data:
                draft.write(piece)
            if durable:
                draft.sync()
            draft.put_in_place(path, durable=durable)
        finally:
            draft.discard()
    except OSError as error:
        # The error of a call with a file descriptor has no file name.
        error.filename = error.filename or str(path)
        raise


def mode_like(path: Path | None) -> int:
    """Return the mode of a file without execute permission; 0600 if there is no such file."""
    with suppress(OSError):
        if path:
            return stat.S_IMODE(path.stat().st_mode) & 0o666
    return 0o600


def _set_owner_and_mode(handle: int, like: Path | None, mode: int, system: Any) -> None:
    """Set owner and group to those of `like`, as far as this process may, and then the mode: a change of the owner clears bits of it."""
    with suppress(OSError):
        if like:
            model, own = like.stat(), os.fstat(handle)
            if model.st_gid != own.st_gid:
                with suppress(OSError):
                    system.fchown(handle, -1, model.st_gid)
            if model.st_uid != own.st_uid:
                system.fchown(handle, model.st_uid, -1)
    system.fchmod(handle, mode)


def is_draft(name: str) -> bool:
    return _DRAFT.fullmatch(name) is not None


def remove_drafts(directory: Path, name: str = "") -> None:
    """Delete the drafts in a directory that no process has locked. Ignores errors.

    `name`: the name of the file whose drafts are deleted; empty for the drafts of all files.
    """
    with suppress(OSError):
        for entry in list(os.scandir(directory)):
            draft = _DRAFT.fullmatch(entry.name)
            if draft and name in ("", draft[1]):
                with suppress(OSError), open(entry.path, "rb") as handle:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)


def move(path: Path, target: Path) -> None:
    """Rename a file, replacing the target if it exists. Raises OSError."""
    path.replace(target)


def write_all(system: Any, handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[system.write(handle, view) :]


def sync_directory(system: Any, directory: Path) -> None:
    """Make a rename or a deletion durable. Does nothing on file systems that do not support it."""
    with suppress(OSError):
        handle = system.open(directory, system.O_RDONLY | system.O_DIRECTORY | system.O_CLOEXEC)
        try:
            system.fsync(handle)
        finally:
            system.close(handle)


Stamp = tuple[int, ...]


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """Return a value that changes when the file, or a link that leads to the file, is written or replaced. Return None for no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
