"""Owner and mode of a path beside the user of this process, for error messages with a remedy."""

import errno
import grp
import os
import pwd
import stat
from pathlib import Path
from typing import Any

# Where it is not a matter of rights.
REMEDIES = {
    errno.ENOSPC: "make room on that disk",
    errno.EDQUOT: "make room on that disk",
    errno.EROFS: "mount it writable; of a service's sandbox: name it in ReadWritePaths=",
}
_DENIED = (errno.EACCES, errno.EPERM)


def failed(what: str, error: OSError, path: Path, advice: str = "give it write access to the file, or better to its directory") -> str:
    """What could not be done with a path, why, and what the operator can do about it; `advice` where rights are missing."""
    remedy = f"{described(path)}: {advice}" if error.errno in _DENIED else REMEDIES.get(error.errno or 0)
    return "; ".join(filter(None, [f"{what}: {error.strerror}", remedy]))


def described(path: Path) -> str:
    """What stands in the way: of the path, or of the nearest one above it that exists; "" where nothing can be seen."""
    for directory in (path, *path.parents):
        try:
            status = os.stat(directory)
        except OSError:
            continue
        owner = f"{_name(pwd.getpwuid, status.st_uid)}:{_name(grp.getgrgid, status.st_gid)}"
        return f"{directory} belongs to {owner}, mode {stat.S_IMODE(status.st_mode):04o}, and this process runs as {me()}"
    return ""


def owner_of(path: Path) -> str:
    """The name of a file's owner; "" where the file is gone."""
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
