"""Mounts of a test's own: its thread, and what that starts, live in a mount namespace that vanishes with all that was mounted in it."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
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
            assert _libc.setns(outside.fileno(), CLONE_NEWNS) == 0, os.strerror(ctypes.get_errno())
            os.chdir(directory)


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
    disk = os.statvfs(directory)
    with ballast.open("wb") as file:
        if (size := disk.f_bavail * disk.f_frsize - leave) > 0:
            os.posix_fallocate(file.fileno(), 0, size)
    return ballast
