"""Confine the processes that check a configuration or explain a request.

Landlock restricts writing to given directories, and a seccomp filter (native/haproxy_native/seccomp.py) restricts system calls. Both apply
to one thread and to the processes that it starts. So a thread of its own confines itself and then starts the process: this process stays
unconfined, and no code has to run between fork and exec.
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
# The rights to create and remove directory entries, including devices, to move entries, and to truncate files (since versions 1, 2 and 3).
_ENTRIES, _DEVICE_FILES = sum(1 << bit for bit in range(4, 13)), 1 << 6 | 1 << 11
_REFER, _TRUNCATE = 1 << 13, 1 << 14
# The Landlock versions since which TCP ports can be restricted, and signals to processes outside.
_PORTS = 4
_SCOPES = 6
_CONNECT, _NAME_SERVER, _SIGNALS = 1 << 1, 53, 1 << 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
# The version of the capability structures, and the one capability that stays: CAP_DAC_READ_SEARCH, to read files (linux/capability.h).
_CAPABILITIES, _READ = 0x20080522, 1 << 2
Result = TypeVar("Result")


@cache
def version() -> int:
    """Return the version of Landlock in the kernel; 0 if there is none, or if this process may not use it."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def missing_confinement() -> list[str]:
    """Return a sentence for each thing that this host cannot prevent a check from doing; empty if the confinement is complete."""
    lacks = []
    if not version():
        lacks.append("it may change files, since this process may not use Landlock (Linux 5.13 or later, with landlock in `lsm=`)")
    if not seccomp.available():
        why = f"there is no filter of system calls for {os.uname().machine}"
        lacks.append(f"it may connect, also to sockets of HAProxy, and start programs, since {why}")
    return lacks


def start_confined(start: Callable[[], Result], writable: Iterable[Path], *, names: bool) -> Result:
    """Start a confined process: call `start` in a confined thread and return its result.

    `missing_confinement` returns what this host cannot prevent.

    The process may change files only in the directories `writable`. With `names`, it may connect only to name servers; without, to nothing.
    `start` must use fork or vfork, as subprocess does for a new session, because the filter refuses posix_spawn. Raises what `start`
    raises, and OSError.
    """

    def run() -> Result:
        _drop_capabilities()
        if version():
            _restrict_files_and_ports(writable)
        if seccomp.available():
            seccomp.install((Reach.NAMES if version() >= _PORTS else Reach.UDP) if names else Reach.NOBODY)
        return start()

    with ThreadPoolExecutor(1, "confined") as thread:
        return thread.submit(run).result()


def _drop_capabilities() -> None:
    """Drop all capabilities of this thread except the one to read files. Root's capabilities could read other processes. Raises OSError."""
    header, data = struct.pack("=Ii", _CAPABILITIES, 0), ctypes.create_string_buffer(24)
    _checked(_library().capget(header, data))
    _, low, _, _, high, _ = struct.unpack("=6I", data.raw)
    # A service whose unit forbids capset has no capabilities to drop.
    if low & ~_READ or high:
        _checked(_library().capset(header, struct.pack("=6I", low & _READ, low & _READ, 0, 0, 0, 0)))


def _restrict_files_and_ports(writable: Iterable[Path]) -> None:
    """Apply the Landlock rules to this thread, permanently. Raises OSError."""
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
        _checked(int(_library().prctl(_NO_NEW_PRIVS, *(ctypes.c_ulong(word) for word in (1, 0, 0, 0)))))
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


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
