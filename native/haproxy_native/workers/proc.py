"""What the kernel knows of worker processes: their memory, and siblings of one.

(proc_pid_smaps(5), proc_pid_stat(5), proc_pid_status(5), proc_tid_children(5))
"""

import os
import re
from contextlib import suppress
from pathlib import Path

_PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)
_RSS = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
_BOOTED = re.compile(r"^btime (\d+)$", re.MULTILINE)
# Up to 3.0 a worker reports the start of the master, which has read the configuration before the worker began. Seconds.
_EARLIER, _LATER = 2.0, 120.0


def memory(pid: int, started: float, proc: Path = Path("/proc")) -> int | None:
    """Return the bytes of memory of a process, with its part of what it shares; without permission for that, what is resident.

    Returns None if neither may be read, or if the process did not start at `started` (Unix time): a pid of another namespace may be that of
    any process here.
    """
    with suppress(OSError, ValueError, IndexError, TypeError):
        if not started - _EARLIER <= _began(proc, pid) <= started + _LATER:
            return None
        for name, pattern in (("smaps_rollup", _PSS), ("status", _RSS)):
            with suppress(OSError):
                if match := pattern.search((proc / str(pid) / name).read_text()):
                    return 1024 * int(match[1])
    return None


def _began(proc: Path, pid: int) -> float:
    """Return the Unix time when a process started. Raises OSError, ValueError, IndexError and TypeError."""
    booted = _BOOTED.search((proc / "stat").read_text())
    # The name in parentheses may contain anything.
    ticks = int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[19])
    return int(booted[1]) + ticks / os.sysconf("SC_CLK_TCK") if booted else 0.0


INIT = 1


def siblings(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """Return the processes of the same program and the same parent, for a HAProxy without a master's socket; none without permission."""
    with suppress(OSError, ValueError, IndexError):
        name, parent = _about(proc, pid)
        if parent > INIT:
            children = map(int, (proc / f"{parent}/task/{parent}/children").read_text().split())
            return sorted(child for child in children if child != pid and _named(proc, child) == name)
    return []


def _about(proc: Path, pid: int) -> tuple[str, int]:
    """Return the name of a process, and its parent's pid."""
    name, _, rest = (proc / str(pid) / "stat").read_text().partition("(")[2].rpartition(")")
    return name, int(rest.split()[1])


def _named(proc: Path, pid: int) -> str:
    """Return the name of a process; empty if it has ended."""
    with suppress(OSError, ValueError, IndexError):
        return _about(proc, pid)[0]
    return ""
