"""Find the mount that contains a file (proc_pid_mountinfo(5)), and find reasons why a file cannot be changed."""

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from haproxy_native.disk import path_errors

MOUNTS = Path("/proc/self/mountinfo")
VOLATILE = frozenset({"tmpfs", "ramfs"})
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A mounted file system. `point`: the path at which it is mounted. `kind`: the type of the file system."""

    point: Path
    kind: str


def mount_of(file: Path, table: Path = MOUNTS) -> Mount:
    """Return the innermost mount that contains the absolute path `file`. If several mounts have the same path, return the last of them."""
    mount, lines = Mount(Path("/"), ""), list[str]()
    with suppress(OSError):
        lines = table.read_text(errors="surrogateescape").splitlines()
    for line in lines:
        head, _, tail = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda match: chr(int(match[1], 8)), head.split(" ")[4]))
        if file.is_relative_to(point) and len(point.parts) >= len(mount.point.parts):
            mount = Mount(point, tail.split(" ")[0])
    return mount


def refused_writes(file: Path, state: Path | None = None) -> list[str]:
    """Return why this process can neither replace a file nor write to the file itself. Empty if it can do either.

    `state`: the directory for drafts if the directory of the file is not writable.
    """
    if os.access(file.parent, os.W_OK):
        return _refused_paths(file, file.parent)
    if os.access(file, os.W_OK):
        if state is not None and not os.access(state, os.W_OK):
            return [f"neither {file.parent} nor {state} can be written to, so a new text cannot be validated"]
        return _refused_paths(file, file, *filter(None, [state]))
    return _refused_paths(file, file.parent, only=errno.EROFS) or [f"neither {file} nor its directory can be written to"]


def _refused_paths(file: Path, *paths: Path, only: int | None = None) -> list[str]:
    """Return a message for each of the paths at which another text of the file's size cannot be written.

    The reason is a read-only file system (EROFS) or a lack of space (ENOSPC). `only`: the reason to report; None to report both.
    """
    obstacles = []
    for path in paths:
        try:
            path_errors.check_space(path, max(1, file.stat().st_size))
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EROFS) and only in (None, error.errno):
                obstacles.append(path_errors.failed(f"{file} cannot be changed, nothing can be written to {path}", error, path))
    return obstacles
