"""Write-ahead journals of writes that a crash may interrupt, so that the next start can finish them.

`FileJournal` is for a file that cannot be replaced by a rename (bind mounts, read-only directories) and is written in place. The journal
has the old and the new content, and is complete on disk before the file is written. An interrupted write leaves a file with pages of both
contents; `replay` finishes it. A file with other content was edited since, and is left alone.

`Manifest` is for a commit of several files. It is complete on disk before the first file changes, and deleted when all have changed. A
crash in between leaves some files new and some old; `rest` returns the files that still have to be written.
"""

import errno
import json
import os
from contextlib import suppress
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from haproxy_native.disk.atomic import remove_drafts, sync_directory, write_all, write_atomically

_PAGE = 4096
_NO_PREALLOCATION = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class FileJournal:
    """The journal of one file, at `path`. `system` is the `os` module, or in tests one that fails."""

    def __init__(self, path: Path, system: Any) -> None:
        self.path, self._system = path, system

    def write(self, target: str, old: bytes, new: bytes) -> None:
        """Write the new content into the target. Raises OSError; then the target has its old content, or the journal stays for `replay`."""
        self._begin(target, old, new)
        try:
            self._overwrite(target, new)
        except OSError:
            self._overwrite(target, old)
            self._end()
            raise
        self._end()

    def replay(self) -> bool:
        """Finish an interrupted write: restore the new content. Return whether the target was torn. Raises OSError."""
        remove_drafts(self.path.parent, self.path.name)
        return self._repair(with_new=True)

    def undo(self) -> bool:
        """Restore the old content if `write` has failed and could not restore it. Return whether the target was torn. Raises OSError."""
        return self._repair(with_new=False)

    def _repair(self, *, with_new: bool) -> bool:
        entry = self._read()
        if entry is None:
            return False
        target, old, new = entry
        content = Path(target).read_bytes()
        torn = content not in (old, new) and _is_mixture(content, old, new)
        if torn:
            self._overwrite(target, new if with_new else old)
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
        # If the journal cannot be deleted, that does no harm, since the target is not torn.
        with suppress(OSError):
            self._system.unlink(self.path)

    def _overwrite(self, target: str, data: bytes) -> None:
        handle = self._system.open(target, os.O_WRONLY | os.O_CLOEXEC)
        try:
            if data:
                # Reserve the space, so that a full disk is noticed before the first byte is overwritten.
                try:
                    self._system.posix_fallocate(handle, 0, len(data))
                except OSError as error:
                    if error.errno not in _NO_PREALLOCATION:
                        raise
            write_all(self._system, handle, data)
            self._system.ftruncate(handle, len(data))
            self._system.fsync(handle)
        finally:
            self._system.close(handle)


def _is_mixture(content: bytes, old: bytes, new: bytes) -> bool:
    """Return whether a write of the new content over the old one may have stopped at this content.

    Each page then begins like the new content, and continues like the old content or with zeros, which are reserved space.
    """
    if not min(len(old), len(new)) <= len(content) <= max(len(old), len(new)):
        return False
    padded = old.ljust(len(content), b"\0")
    for start in range(0, len(content), _PAGE):
        end = min(start + _PAGE, len(content))
        same = start
        while same < min(end, len(new)) and content[same] == new[same]:
            same += 1
        if content[same:end] != padded[same:end] and any(content[same:end]):
            return False
    return True


class ManifestEntry(NamedTuple):
    """A file, by its path as configured, with the old and the new content."""

    path: str
    old: bytes
    new: bytes


class Manifest:
    """The manifest of a commit, at `path`. `system` is the `os` module, or in tests one that fails."""

    def __init__(self, path: Path, system: Any) -> None:
        self.path, self._system = path, system

    def begin(self, entries: list[ManifestEntry]) -> None:
        """Write the manifest. It is on disk when this returns. Raises OSError."""
        data = b"".join(entry.old + entry.new for entry in entries)
        sizes = [[entry.path, len(entry.old), len(entry.new)] for entry in entries]
        head = {"files": sizes, "md5": md5(data, usedforsecurity=False).hexdigest()}
        write_atomically(self.path, json.dumps(head).encode() + b"\n" + data, system=self._system)

    def end(self) -> None:
        """Delete the manifest. Raises OSError if that fails: the next start would otherwise repeat this commit, even after a later one."""
        if self.path.exists():
            self._system.unlink(self.path)
            sync_directory(self._system, self.path.parent)

    def rest(self) -> list[ManifestEntry]:
        """Return the files that still have the old content while others have the new one.

        A file with any other content was edited since by another process, and is not returned.
        """
        remove_drafts(self.path.parent, self.path.name)
        entries = self._read()
        contents: dict[ManifestEntry, bytes] = {}
        for entry in entries:
            with suppress(OSError):
                contents[entry] = Path(entry.path).read_bytes()
        if not any(contents.get(entry) == entry.new for entry in entries):
            return []
        return [entry for entry in entries if contents.get(entry) == entry.old]

    def _read(self) -> list[ManifestEntry]:
        with suppress(FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            head, _, data = self.path.read_bytes().partition(b"\n")
            described = json.loads(head)
            if md5(data, usedforsecurity=False).hexdigest() == described["md5"]:
                entries, start = [], 0
                for path, old, new in described["files"]:
                    entries.append(ManifestEntry(path, data[start : start + old], data[start + old : start + old + new]))
                    start += old + new
                return entries
        return []
