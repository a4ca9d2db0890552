"""Checks for free space with statvfs(3), without writing."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

# Tells of the file system that holds a path.
Statvfs = Callable[[Path], os.statvfs_result]


def check(path: Path, size: int = 1, statvfs: Statvfs = os.statvfs) -> None:
    """Raises OSError where another file of so many bytes cannot be kept beside the path, or in it."""
    found = statvfs(path)
    root = os.geteuid() == 0
    blocks, files = (found.f_bfree, found.f_ffree) if root else (found.f_bavail, found.f_favail)
    if found.f_flag & os.ST_RDONLY:
        number = errno.EROFS
    # File systems that count neither blocks nor files tell of none at all.
    elif (found.f_blocks and blocks * found.f_frsize < size) or (found.f_files and not files):
        number = errno.ENOSPC
    else:
        return
    raise OSError(number, os.strerror(number), str(path))
