"""Filter the system calls of a HAProxy that checks a text or explains a request, and of all processes that it starts.

Landlock keeps such a process from changing files. This filter keeps it from sockets, other processes, the kernel's settings, and modes and
owners of files. The filtered code may be an attacker's: Lua, or machine code that Lua loads. A filter cannot follow pointers, so it decides
by the numbers of system calls and by flags alone.

A filter applies to a thread, survives exec, and cannot be removed (seccomp(2), PR_SET_SECCOMP). The filtered thread starts the child by
vfork, so vfork is allowed. So is fork, which scripts need. posix_spawn is refused: Lua's `os.execute` and `io.popen` use it in glibc since
2.30 and in musl.

(Linux, Documentation/userspace-api/seccomp_filter.rst, include/uapi/linux/filter.h)
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache

_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
# By machine: its name in the kernel (linux/audit.h), and its column in the tables below.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
# Calls with higher numbers are unknown to this filter and refused, as are all calls of x32.
_LAST = 451
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_DENIED, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
# Offsets in the data that a filter sees: the number, the machine, and the low half of the first argument.
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_ALL = 0xFFFFFFFF

# Numbers by name, on x86_64 and on aarch64; 0 if there is none. These are always refused.
_REFUSED = """
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, process_mrelease 448 448, kcmp 312 272,
pidfd_getfd 438 438, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, keyctl 250 219, add_key 248 217, request_key 249 218,
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268, open_tree 428 428, move_mount 429 429,
fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, open_by_handle_at 304 265,
kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106, reboot 169 142,
swapon 167 224, swapoff 168 225, acct 163 89, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
sethostname 170 161, setdomainname 171 162, syslog 103 116, quotactl 179 60, quotactl_fd 443 443, iopl 172 0, ioperm 173 0,
fanotify_init 300 262, vhangup 153 58,
chmod 90 0, fchmod 91 52, fchmodat 268 53, chown 92 0, fchown 93 55, lchown 94 0, fchownat 260 54, utime 132 0, utimes 235 0,
futimesat 261 0, utimensat 280 88, setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16, truncate 76 45, flock 73 32,
kill 62 129, tkill 200 130, tgkill 234 131, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_send_signal 424 424,
setpriority 141 140, ioprio_set 251 30, sched_setparam 142 118, sched_setscheduler 144 119, sched_setattr 314 274, migrate_pages 256 238,
move_pages 279 239
"""
# Calls whose arguments are in memory, where a filter cannot read them. Libraries fall back to older calls if these do not exist.
_ABSENT = "clone3 435 435, openat2 437 437, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427"
# Calls that are refused unless one of their alternatives applies.
_CONDITIONAL = """
clone 56 220, openat 257 56, open 2 0, prlimit64 302 261, sched_setaffinity 203 122, ioctl 16 29, fcntl 72 25, socket 41 198,
socketpair 53 199, connect 42 203, listen 50 201, sendto 44 206, sendmsg 46 211, sendmmsg 307 269
"""

# A test: the number of an argument, a mask of its bits, and the values that the masked argument may have. A call is allowed if all tests of
# one of its alternatives hold.
Test = tuple[int, int, tuple[int, ...]]
Alternatives = dict[str, list[list[Test]]]
_NEW_NAMESPACES, _VFORK = 0x7E020000, 0x4000
_TRUNCATE, _ACCESS, _FAST_OPEN = 0x200, 0x3, 0x20000000
_AF_UNIX, _INET, _STREAM, _DGRAM, _TYPE = 1, (2, 10), 1, 2, 0xF
# Requests about terminals and descriptors, and for the names of network interfaces.
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x8910, 0x8912, 0x8933)
# All commands except those that direct signals to another process.
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034)
_ALTERNATIVES: Alternatives = {
    # A call with CLONE_VFORK is vfork if the child gets no stack of its own, and posix_spawn if it does.
    "clone": [[(0, _NEW_NAMESPACES | _VFORK, (0,))], [(0, _NEW_NAMESPACES, (0,)), (1, _ALL, (0,))]],
    # O_TRUNC is allowed only together with write access: Landlock controls truncation only since its version 3.
    "openat": [[(2, _TRUNCATE, (0,))], [(2, _ACCESS, (1, 2, 3))]],
    "open": [[(1, _TRUNCATE, (0,))], [(1, _ACCESS, (1, 2, 3))]],
    # Only of the calling process itself.
    "prlimit64": [[(0, _ALL, (0,))]],
    "sched_setaffinity": [[(0, _ALL, (0,))]],
    "ioctl": [[(1, _ALL, _IOCTLS)]],
    "fcntl": [[(1, _ALL, _FCNTLS)]],
    # A datagram socket of a pair could send to other sockets.
    "socketpair": [[(0, _ALL, (_AF_UNIX,)), (1, _TYPE, (_STREAM,))]],
}


class Reach(Enum):
    """Which peers a process may communicate with."""

    # Name servers over UDP. The process may not accept connections.
    UDP = "udp"
    # Name servers over UDP and TCP; Landlock restricts the TCP ports. The process may not accept connections.
    NAMES = "names"
    # Processes that connect to its Unix sockets. The process may not open connections.
    NOBODY = "nobody"


_UDP: list[Test] = [(0, _ALL, _INET), (1, _TYPE, (_DGRAM,)), (2, _ALL, (0, 17))]
_TCP: list[Test] = [(0, _ALL, _INET), (1, _TYPE, (_STREAM,)), (2, _ALL, (0, 6))]
# With MSG_FASTOPEN these calls connect without connect(2), which Landlock does not control.
_SEND: Alternatives = {"sendto": [[(3, _FAST_OPEN, (0,))]], "sendmsg": [[(2, _FAST_OPEN, (0,))]], "sendmmsg": [[(3, _FAST_OPEN, (0,))]]}
_BY_REACH: dict[Reach, Alternatives] = {
    Reach.UDP: {"socket": [_UDP], "connect": [[]], **_SEND},
    Reach.NAMES: {"socket": [_UDP, _TCP], "connect": [[]], **_SEND},
    Reach.NOBODY: {
        "socket": [[(0, _ALL, (_AF_UNIX,)), (1, _TYPE, (_STREAM,))]],
        "listen": [[]],
        "sendto": [[]],
        "sendmsg": [[]],
        "sendmmsg": [[]],
    },
}


@cache
def available() -> bool:
    """Return whether this module knows the system calls of this machine, and the kernel supports filters."""
    # Without an address, a kernel with filters answers EFAULT, and one without EINVAL.
    return _machine() is not None and _prctl(_SET_SECCOMP, _FILTER, 0) < 0 and ctypes.get_errno() == errno.EFAULT


def install(reach: Reach) -> None:
    """Install the filter in this thread and in all processes that it starts, permanently. Raises OSError."""
    code = b"".join(_program(reach))
    memory = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(code) // 8, ctypes.addressof(memory)))
    if _prctl(_NO_NEW_PRIVS, 1, 0) or _prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(header)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _machine() -> tuple[int, int] | None:
    return _MACHINES.get(platform.machine()) if sys.maxsize > 1 << 32 else None


def _program(reach: Reach) -> Iterator[bytes]:
    """Yield the instructions of the filter. They compare the number of a call with each number in the tables."""
    machine = _machine()
    assert machine
    name, column = machine
    yield _instruction(_LOAD, _MACHINE) + _instruction(_EQUAL, name, 1, 0) + _instruction(_RETURN, _DENIED)
    yield _instruction(_LOAD, _NUMBER) + _instruction(_AT_LEAST, _LAST + 1, 0, 1) + _instruction(_RETURN, _UNKNOWN)
    for table, answer in ((_REFUSED, _DENIED), (_ABSENT, _UNKNOWN)):
        for number in _numbers(table, column).values():
            yield _instruction(_EQUAL, number, 0, 1) + _instruction(_RETURN, answer)
    conditions = _ALTERNATIVES | _BY_REACH[reach]
    for call, number in _numbers(_CONDITIONAL, column).items():
        block = b"".join(map(_alternative, conditions.get(call, []))) + _instruction(_RETURN, _DENIED)
        yield _instruction(_EQUAL, number, 0, len(block) // 8) + block
    yield _instruction(_RETURN, _ALLOW)


def _alternative(tests: list[Test]) -> bytes:
    """Return instructions that allow a call if all tests hold. If a test fails, they jump to the next instruction after the block."""
    code = _instruction(_RETURN, _ALLOW)
    for argument, bits, values in reversed(tests):
        last = len(values) - 1
        jumps = ((last - place, 0 if place < last else len(code) // 8) for place in range(len(values)))
        compare = b"".join(_instruction(_EQUAL, value, *jump) for value, jump in zip(values, jumps, strict=True))
        code = _instruction(_LOAD, _ARGUMENTS + 8 * argument) + _instruction(_AND, bits) + compare + code
    return code


def _numbers(table: str, column: int) -> dict[str, int]:
    rows = (row.split() for row in table.split(","))
    return {row[0]: int(row[1 + column]) for row in rows if row[1 + column] != "0"}


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _prctl(option: int, first: int, second: int) -> int:
    words = (ctypes.c_ulong(word) for word in (first, second, 0, 0))
    return int(ctypes.CDLL(None, use_errno=True).prctl(option, *words))
