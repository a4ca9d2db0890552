"""Create temporary directories, and remove those that a killed server process has left.

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
            while True:
                path = tempfile.mkdtemp(prefix=f"haproxy-{kind}-")
                # A process that has just started may have locked the directory as a leftover, and removes it.
                if (lock := _lock_directory(path)) is not None:
                    break
        except OSError as error:
            places = "TMPDIR, /tmp, /var/tmp"
            detail = f"no temporary directory can be made in {places}: {error.strerror}; set PrivateTmp=yes in the systemd unit"
            raise Unusable(detail) from error
        self.path, self._lock = Path(path), lock

    def remove(self) -> None:
        """Remove the directory with its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_leftovers() -> list[Path]:
    """Remove the scratch directories of this user that no process has locked, and return their paths. Blocks."""
    removed: list[Path] = []
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if _NAME.fullmatch(entry.name) and (lock := _lock_directory(entry.path)) is not None:
                _kill_users(entry.path)
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)
                removed.append(Path(entry.path))
    return removed


def _kill_users(directory: str) -> None:
    """Kill this user's processes whose command lines name a file of the directory. A shadow process would otherwise never end."""
    own = os.fsencode(f"{directory}/")
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                if any(word.startswith(own) for word in words):
                    os.kill(int(entry.name), signal.SIGKILL)


def _lock_directory(path: str) -> int | None:
    """Lock a directory of this user and return its descriptor; None if another process has locked or removed the directory."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened, on_disk = os.fstat(lock), os.lstat(path)
        if opened.st_uid == os.geteuid() and (opened.st_dev, opened.st_ino) == (on_disk.st_dev, on_disk.st_ino):
            return lock
    os.close(lock)
    return None
