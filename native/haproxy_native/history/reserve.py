"""Room on the disk that is kept for entries: a file that makes way where an entry finds none. All methods block."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from haproxy_native.disk import room

# An entry of a small change takes some 20 pages in the log of the database, one of a new file twice as many.
LEAST = 1 << 18
# What stays after an entry that needed more.
KEPT = 1 << 22
# A full disk, and a quota, which SQLite takes for an error of writing.
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_NOT_ALLOCATED = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
Result = TypeVar("Result")


class Reserve:
    def __init__(self, path: Path) -> None:
        self._path, self._size = path, 0

    def keep(self, size: int) -> None:
        """Keeps room for an entry with so many bytes of content. Raises OSError where there is none, or where nothing can be written."""
        room.check(self._path.parent, 0)
        if self._size < LEAST + size:
            self._allocate(LEAST + size)

    def _allocate(self, wanted: int) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            former = os.fstat(file).st_size
            try:
                os.posix_fallocate(file, 0, wanted)
                self._size = max(former, wanted)
            except OSError as error:
                # Some of it may have been allocated.
                os.ftruncate(file, former)
                if error.errno not in _NOT_ALLOCATED:
                    raise
                room.check(self._path.parent, wanted)
        finally:
            os.close(file)

    def make_way(self, journal: Any, work: Callable[..., Result], *given: Any) -> Result:
        """Returns what the work with the journal returns, which is tried again without the reserve where there is no room for it."""
        try:
            result = work(journal, *given)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NO_ROOM or not self._size:
                raise
            self._size = 0
            self._path.unlink(missing_ok=True)
            return work(journal, *given)
        self._shrink()
        return result

    def _shrink(self) -> None:
        if self._size > KEPT:
            with suppress(OSError):
                os.truncate(self._path, KEPT)
                self._size = KEPT
