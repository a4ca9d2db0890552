"""Checks for free space with statvfs(3), without writing."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

# Tells of the file system that holds a path.
Statvfs = Callable[[Path], os.statvfs_result]


def check(path: Path, size: int = 1, statvfs: Statvfs = os.statvfs) -> None:
    """Raises OSError where another file of so many bytes cannot be kept beside the path, or in it."""
    stats = statvfs(path)
    root = os.geteuid() == 0
    blocks, files = (stats.f_bfree, stats.f_ffree) if root else (stats.f_bavail, stats.f_favail)
    if stats.f_flag & os.ST_RDONLY:
        number = errno.EROFS
    # File systems that count neither blocks nor files tell of none at all.
    elif (stats.f_blocks and blocks * stats.f_frsize < size) or (stats.f_files and not files):
        number = errno.ENOSPC
    else:
        return
    raise OSError(number, os.strerror(number), str(path))
