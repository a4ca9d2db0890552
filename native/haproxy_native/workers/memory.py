"""The memory of a process, as the kernel tells it (proc_pid_smaps(5), proc_pid_stat(5), proc_pid_status(5))."""

import os
import re
from contextlib import suppress
from pathlib import Path

_PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)
_RSS = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
_BOOTED = re.compile(r"^btime (\d+)$", re.MULTILINE)
# Up to 3.0 a worker tells the start of the master that has read the configuration before it began; seconds.
_EARLIER, _LATER = 2.0, 120.0


def memory(pid: int, started: float, proc: Path = Path("/proc")) -> int | None:
    """Bytes: its own and its part of what it shares; what is resident where only that may be read; None where nothing may be.

    `started`: Unix time. A pid of another namespace may be that of any process here, whose start then is another.
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
    """When the kernel started a process, as Unix time. Raises OSError, ValueError, IndexError and TypeError."""
    booted = _BOOTED.search((proc / "stat").read_text())
    # The name before may hold anything.
    ticks = int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[19])
    return int(booted[1]) + ticks / os.sysconf("SC_CLK_TCK") if booted else 0.0
