"""Create temporary directories, and clean up at the start after a server process that was killed.

A directory is locked while it is in use, and the kernel releases the lock when the process ends (flock(2)). So a directory without a lock
is a leftover. It is removed, and processes that were started with its files are killed.
"""

import fcntl
import os
import re
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from haproxy_native.errors import Unusable

_NAME = re.compile(r"haproxy-(?:check|set|shadow|state)-[a-z0-9_]{8}")


class Scratch:
    """A new temporary directory, `haproxy-KIND-` and eight characters, locked until `remove`.

    The constructor raises Unusable if no directory for temporary files can be written. It blocks.
    """

    def __init__(self, kind: str) -> None:
        try:
            self.path, self._lock = _new(f"haproxy-{kind}-")
        except OSError as error:
            places = "TMPDIR, /tmp, /var/tmp"
            detail = f"no temporary directory can be made in {places}: {error.strerror}; set PrivateTmp=yes in the systemd unit"
            raise Unusable(detail) from error

    def remove(self) -> None:
        """Remove the directory with its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_leftovers() -> list[Path]:
    """Remove the scratch directories of this user that no process has locked, and return their paths. Blocks."""
    removed: list[Path] = []
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if _NAME.fullmatch(entry.name) and (lock := _locked(entry.path)) is not None:
                _kill_users(entry.path)
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)
                removed.append(Path(entry.path))
    return removed


def _kill_users(directory: str) -> None:
    """Kill this user's processes that have a file of the directory in their command line: a shadow would outlive its server for ever."""
    own = os.fsencode(f"{directory}/")
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                if any(word.startswith(own) for word in words):
                    os.kill(int(entry.name), signal.SIGKILL)


def _new(prefix: str) -> tuple[Path, int]:
    while True:
        path = tempfile.mkdtemp(prefix=prefix)
        # Otherwise a process that has just started has locked it as a leftover, and removes it.
        if (lock := _locked(path)) is not None:
            return Path(path), lock


def _locked(path: str) -> int | None:
    """Lock a directory of this user; return None if another process has locked or removed it."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened, there = os.fstat(lock), os.lstat(path)
        if opened.st_uid == os.geteuid() and (opened.st_dev, opened.st_ino) == (there.st_dev, there.st_ino):
            return lock
    os.close(lock)
    return None
