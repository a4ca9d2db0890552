"""Temporary directories. Those that a killed process has left are removed at the next start, and processes that use their files are killed.

Each is locked while it is in use; the lock ends with the process (flock(2)).
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
    """A new directory, `haproxy-KIND-` and eight letters. Raises Unusable if nothing temporary can be written."""

    def __init__(self, kind: str) -> None:
        try:
            self.path, self._lock = _new(f"haproxy-{kind}-")
        except OSError as error:
            places = "TMPDIR, /tmp, /var/tmp"
            detail = f"this needs a directory for temporary files ({places}): {error.strerror}; PrivateTmp=yes in the unit is one"
            raise Unusable(detail) from error

    def remove(self) -> None:
        """Remove the directory with its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def remove_leftovers() -> list[Path]:
    """Remove the directories of this user that no process uses, and return them."""
    removed: list[Path] = []
    with suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if _NAME.fullmatch(entry.name) and (lock := _locked(entry.path)) is not None:
                _end_users(entry.path)
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)
                removed.append(Path(entry.path))
    return removed


def _end_users(directory: str) -> None:
    """Kill processes of this user that were started with a file in the directory: the shadow of a killed server would run for ever."""
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
        # Otherwise another process that was just started has taken it for a leftover.
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
