"""Explain why a path cannot be written: its owner and mode, the user of this process, and free space, with a remedy for error messages."""

import errno
import grp
import os
import pwd
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The remedies of errors that are not about permissions.
REMEDIES = {
    errno.ENOSPC: "make room on that disk",
    errno.EDQUOT: "make room on that disk",
    errno.EROFS: "mount it writable; of a service's sandbox: name it in ReadWritePaths=",
}
_DENIED = (errno.EACCES, errno.EPERM)


def failed(what: str, error: OSError, path: Path, advice: str = "give it write access to the file, or better to its directory") -> str:
    """Return an error message: `what` has failed, why, and the remedy. `advice`: the remedy if permissions for `path` are missing."""
    remedy = f"{described(path)}: {advice}" if error.errno in _DENIED else REMEDIES.get(error.errno or 0)
    return "; ".join(filter(None, [f"{what}: {error.strerror}", remedy]))


def described(path: Path) -> str:
    """Return owner and mode of the path, or of the nearest directory above it that exists; empty if nothing can be read."""
    for directory in (path, *path.parents):
        try:
            status = os.stat(directory)
        except OSError:
            continue
        owner = f"{_name(pwd.getpwuid, status.st_uid)}:{_name(grp.getgrgid, status.st_gid)}"
        return f"{directory} belongs to {owner}, mode {stat.S_IMODE(status.st_mode):04o}, and this process runs as {me()}"
    return ""


def owner_of(path: Path) -> str:
    """Return the name of a file's owner; empty if the file is gone."""
    try:
        return _name(pwd.getpwuid, os.stat(path).st_uid)
    except OSError:
        return ""


def me() -> str:
    return _name(pwd.getpwuid, os.geteuid())


def _name(look_up: Any, number: int) -> str:
    try:
        return str(look_up(number)[0])
    except KeyError:
        return str(number)


# Reports the file system of a path.
Statvfs = Callable[[Path], os.statvfs_result]


def check_space(path: Path, size: int = 1, statvfs: Statvfs = os.statvfs) -> None:
    """Raise OSError if the file system of the path cannot take another file of this size in bytes. Writes nothing."""
    stats = statvfs(path)
    root = os.geteuid() == 0
    blocks, files = (stats.f_bfree, stats.f_ffree) if root else (stats.f_bavail, stats.f_favail)
    if stats.f_flag & os.ST_RDONLY:
        number = errno.EROFS
    # File systems that count neither blocks nor files report zero of both.
    elif (stats.f_blocks and blocks * stats.f_frsize < size) or (stats.f_files and not files):
        number = errno.ENOSPC
    else:
        return
    raise OSError(number, os.strerror(number), str(path))
