"""Confines the processes that a check or a shadow starts: Landlock limits writing to given directories, a filter limits system calls.

Both belong to a thread and to what it starts. So nothing runs between fork and exec, and this process stays unconfined.
(Linux, Documentation/userspace-api/landlock.rst)
"""

import ctypes
import os
import struct
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

from haproxy_native import seccomp
from haproxy_native.seccomp import Reach

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _PORT, _NO_NEW_PRIVS = 1, 1, 2, 38
_WRITE_FILE = 1 << 1
# Remove and make entries of directories, devices among them; move them and truncate files, each since a version of its own.
_ENTRIES, _DEVICE_FILES = sum(1 << bit for bit in range(4, 13)), 1 << 6 | 1 << 11
_REFER, _TRUNCATE = 1 << 13, 1 << 14
# The versions since which a domain may limit the ports of TCP, and keep signals inside.
_PORTS = 4
_SCOPES = 6
_CONNECT, _NAME_SERVER, _SIGNALS = 1 << 1, 53, 1 << 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
# The version of the structure of capabilities, and the one that stays: to read files (linux/capability.h).
_CAPABILITIES, _READ = 0x20080522, 1 << 2
Result = TypeVar("Result")


@cache
def version() -> int:
    """Return the kernel's version of Landlock; 0 if it has none, or if this process may not use it."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def lacking() -> list[str]:
    """Return what a check can do here although it should not, and why; empty if the confinement is complete."""
    lacks = []
    if not version():
        lacks.append("it may change files, since this process may not use Landlock (Linux 5.13 or later, with landlock in `lsm=`)")
    if not seccomp.available():
        why = f"there is no filter of system calls for {os.uname().machine}"
        lacks.append(f"it may connect, also to sockets of HAProxy, and start programs, since {why}")
    return lacks


def confined(start: Callable[[], Result], writable: Iterable[Path], *, names: bool) -> Result:
    """Call `start` in a confined thread and return its result. The process that it starts is confined, except for what `lacking` reports.

    The process may change files only in the directories `writable`. With `names` it may query name servers, else it may not connect at
    all. `start` must use fork or vfork, as subprocess does for a new session: posix_spawn is refused. Raise what `start` raises.
    """

    def run() -> Result:
        _drop_capabilities()
        if version():
            _restrict(writable)
        if seccomp.available():
            seccomp.install((Reach.NAMES if version() >= _PORTS else Reach.UDP) if names else Reach.NOBODY)
        return start()

    with ThreadPoolExecutor(1, "confined") as thread:
        return thread.submit(run).result()


def _drop_capabilities() -> None:
    """Drop the capabilities of this thread: with root's it could read other processes. Raises OSError."""
    header, data = struct.pack("=Ii", _CAPABILITIES, 0), ctypes.create_string_buffer(24)
    _checked(_library().capget(header, data))
    _, low, _, _, high, _ = struct.unpack("=6I", data.raw)
    # A service that may not drop capabilities has none.
    if low & ~_READ or high:
        _checked(_library().capset(header, struct.pack("=6I", low & _READ, low & _READ, 0, 0, 0, 0)))


def _restrict(writable: Iterable[Path]) -> None:
    """Restrict this thread, for ever. Raises OSError."""
    changes = _WRITE_FILE | _ENTRIES | (_REFER if version() >= 2 else 0) | (_TRUNCATE if version() >= 3 else 0)
    attributes = struct.pack("=QQQ", changes, _CONNECT if version() >= _PORTS else 0, _SIGNALS)
    size = 24 if version() >= _SCOPES else 16 if version() >= _PORTS else 8
    ruleset = _checked(_call(_CREATE_RULESET, attributes, size, 0))
    try:
        for path in writable:
            _allow(ruleset, path, changes & ~_DEVICE_FILES)
        for device in _DEVICES:
            _allow(ruleset, Path(device), _WRITE_FILE)
        if version() >= _PORTS:
            _checked(_call(_ADD_RULE, ruleset, _PORT, struct.pack("=QQ", _CONNECT, _NAME_SERVER), 0))
        _checked(_prctl(_NO_NEW_PRIVS))
        _checked(_call(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    with suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            _checked(_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0))
        finally:
            os.close(descriptor)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    return int(_library().syscall(ctypes.c_long(number), *words))


def _prctl(option: int) -> int:
    return int(_library().prctl(option, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
