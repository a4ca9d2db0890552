"""Writes a file in place, where it cannot be replaced by a rename (bind mounts, read-only directories).

The journal holds the old and the new content and is complete before the file is touched. A write that was cut off leaves pages of both;
`replay` finishes it. A file that is neither has been edited since, and is left alone.
"""

import errno
import json
import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import md5
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import remove_drafts, write_all, write_atomically

_PAGE = 4096
_NO_PREALLOCATION = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class Journal:
    """One file's journal, kept at `path`; `system` is the `os` module, or in tests one that fails."""

    def __init__(self, path: Path, system: Any) -> None:
        self.path, self._system = path, system

    def write(self, target: str, old: bytes, new: bytes) -> None:
        """Puts the new content into the target. Raises OSError with the old content in place, or with the journal kept."""
        self._begin(target, old, new)
        try:
            self._overwrite(target, new)
        except OSError:
            self._overwrite(target, old)
            self._end()
            raise
        self._end()

    def replay(self) -> bool:
        """Finishes a write that was cut off; True when the target now is the new content because of it. Raises OSError."""
        remove_drafts(self.path.parent, self.path.name)
        return self._mend(lambda old, new: new)

    def undo(self) -> bool:
        """The same for a write that failed, as did the way back: the target is to be the old content."""
        return self._mend(lambda old, new: old)

    def _mend(self, wanted: Callable[[bytes, bytes], bytes]) -> bool:
        entry = self._read()
        if entry is None:
            return False
        target, old, new = entry
        content = Path(target).read_bytes()
        torn = content not in (old, new) and _is_mixture(content, old, new)
        if torn:
            self._overwrite(target, wanted(old, new))
        self._end()
        return torn

    def _begin(self, target: str, old: bytes, new: bytes) -> None:
        head = {"target": target, "old": len(old), "md5": md5(old + new, usedforsecurity=False).hexdigest()}
        self.path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps(head).encode() + b"\n" + old + new, system=self._system)

    def _read(self) -> tuple[str, bytes, bytes] | None:
        try:
            head, _, both = self.path.read_bytes().partition(b"\n")
        except (FileNotFoundError, NotADirectoryError):
            return None
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(head)
            if md5(both, usedforsecurity=False).hexdigest() == entry["md5"] and Path(entry["target"]).exists():
                return entry["target"], both[: entry["old"]], both[entry["old"] :]
        self._end()
        return None

    def _end(self) -> None:
        # One that stays does no harm: the target is not torn, and will not be.
        with suppress(OSError):
            self._system.unlink(self.path)

    def _overwrite(self, target: str, data: bytes) -> None:
        handle = self._system.open(target, os.O_WRONLY | os.O_CLOEXEC)
        try:
            self._reserve(handle, len(data))
            write_all(self._system, handle, data)
            self._system.ftruncate(handle, len(data))
            self._system.fsync(handle)
        finally:
            self._system.close(handle)

    def _reserve(self, handle: int, size: int) -> None:
        """A full disk shall be noticed before the first byte is overwritten."""
        if size == 0:
            return
        try:
            self._system.posix_fallocate(handle, 0, size)
        except OSError as error:
            if error.errno not in _NO_PREALLOCATION:
                raise


def _is_mixture(content: bytes, old: bytes, new: bytes) -> bool:
    """Whether each page begins like the new content and goes on like the old one, or was reserved and never written."""
    if not min(len(old), len(new)) <= len(content) <= max(len(old), len(new)):
        return False
    padded = old.ljust(len(content), b"\0")
    return all(_page_fits(content, padded, new, start) for start in range(0, len(content), _PAGE))


def _page_fits(content: bytes, old: bytes, new: bytes, start: int) -> bool:
    end = min(start + _PAGE, len(content))
    same = start
    while same < min(end, len(new)) and content[same] == new[same]:
        same += 1
    return content[same:end] == old[same:end] or not any(content[same:end])
