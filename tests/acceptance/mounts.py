"""Mounts of a test's own: its thread, and what that starts, live in a mount namespace that vanishes with all that was mounted in it."""

import ctypes
import faulthandler
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

CLONE_NEWNS = 0x20000
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def private() -> Iterator[None]:
    """Skips where nothing may be mounted, for want of root above all."""
    with open("/proc/thread-self/ns/mnt", "rb") as outside:
        directory = os.getcwd()
        if _libc.unshare(CLONE_NEWNS):
            pytest.skip(f"no mounts here: {os.strerror(ctypes.get_errno())}")
        try:
            mount("--make-rprivate", "/")
            yield
        finally:
            _leave(outside.fileno())
            os.chdir(directory)


def _leave(namespace: int) -> None:
    """For its former one. No other thread may share this one's; pytest's watch over slow tests does if it began later, until it is gone."""
    faulthandler.cancel_dump_traceback_later()
    deadline = time.monotonic() + 30
    while _libc.setns(namespace, CLONE_NEWNS):
        assert time.monotonic() < deadline, os.strerror(ctypes.get_errno())
        time.sleep(0.01)


def mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no such mount here: mount {' '.join(map(str, arguments))}: {done.stderr.strip()}")


def memory(directory: Path, kibibytes: int = 16384) -> None:
    """A tmpfs of that size."""
    mount("-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", directory)


def overlay(lower: Path, upper: Path, merged: Path) -> None:
    """A lower directory and, on a tmpfs, what is changed in it; `upper` and `merged` are empty directories."""
    memory(upper)
    for name in ("changes", "work"):
        (upper / name).mkdir()
    mount("-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper}/changes,workdir={upper}/work", "overlay", merged)


def coarse(directory: Path, image: Path) -> None:
    """A file system whose times are whole seconds, as those of old disks and some servers are."""
    subprocess.run(["mkfs.ext4", "-q", "-I", "128", image, "8m"], check=True, capture_output=True)
    mount("-o", "loop", image, directory)


def fill(directory: Path, leave: int) -> Path:
    """The file that leaves so many bytes of a mount, a multiple of 4096."""
    ballast = directory / "ballast"
    ballast.unlink(missing_ok=True)
    with ballast.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(bytes(4096)) == 4096:
                pass
        # What statvfs(2) tells of a tmpfs is not exact.
        file.truncate(max(file.tell() - leave, 0))
    return ballast
