"""Landlock: confines a child process to writing below given directories, and to starting given programs.

The domain is that of a thread, and of what it starts; so nothing runs between fork and exec, and this process stays free.
(Linux, Documentation/userspace-api/landlock.rst)
"""

import ctypes
import os
import struct
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, TypeVar

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _NO_NEW_PRIVS = 1, 1, 38
_EXECUTE, _WRITE_FILE = 1 << 0, 1 << 1
# remove and make entries of directories; move them and truncate files, each since a version of its own
_ENTRIES, _REFER, _TRUNCATE = sum(1 << bit for bit in range(4, 13)), 1 << 13, 1 << 14
# The version since which a domain may keep signals inside.
_SCOPES, _SIGNALS = 6, 1 << 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")
_ELF_HEADER, _PT_INTERP = 64, 3
Result = TypeVar("Result")


@cache
def version() -> int:
    """The kernel's version of Landlock; 0 where it has none, or may not be asked."""
    return max(0, _call(_CREATE_RULESET, None, 0, _ASK_VERSION))


def confined(start: Callable[[], Result], writable: Iterable[Path], programs: Sequence[Path] = ()) -> Result:
    """What `start` returns; a process that it starts is confined. Raises what it raises.

    `writable` are the directories in which files may change. With `programs` no other may be executed. Without Landlock nothing is
    confined.
    """
    if not version():
        return start()

    def run() -> Result:
        _restrict(writable, programs)
        return start()

    with ThreadPoolExecutor(1, "confined") as thread:
        return thread.submit(run).result()


def programs_of(binary: str) -> list[Path]:
    """The binary and what loads it; none for a script, which starts other programs."""
    with suppress(OSError, struct.error), Path(binary).open("rb") as file:
        head = file.read(_ELF_HEADER)
        if head.startswith(b"\x7fELF"):
            return [Path(binary), *_interpreter(file, head)]
    return []


def _interpreter(file: BinaryIO, head: bytes) -> list[Path]:
    """What the segment PT_INTERP names (elf(5)); a static program has none. Raises struct.error for a header that is cut short."""
    order, wide = "<" if head[5] == 1 else ">", head[4] == 2
    (table,) = struct.unpack_from(f"{order}Q" if wide else f"{order}I", head, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    for number in range(count):
        file.seek(table + number * size)
        segment = file.read(size)
        kind, offset, length = struct.unpack_from(f"{order}I4xQ16xQ" if wide else f"{order}II8xI", segment)
        if kind == _PT_INTERP:
            file.seek(offset)
            return [Path(os.fsdecode(file.read(length).rstrip(b"\0")))]
    return []


def _restrict(writable: Iterable[Path], programs: Sequence[Path]) -> None:
    """This thread, for ever. Raises OSError."""
    changes = _WRITE_FILE | _ENTRIES | (_REFER if version() >= 2 else 0) | (_TRUNCATE if version() >= 3 else 0)
    handled = changes | (_EXECUTE if programs else 0)
    attributes = struct.pack("=QQQ", handled, 0, _SIGNALS) if version() >= _SCOPES else struct.pack("=Q", handled)
    ruleset = _checked(_call(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path in writable:
            _allow(ruleset, path, changes)
        for device in _DEVICES:
            _allow(ruleset, Path(device), _WRITE_FILE)
        for program in programs:
            _allow(ruleset, program, _EXECUTE)
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
