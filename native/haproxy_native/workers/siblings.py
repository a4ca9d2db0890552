"""The other worker processes of a HAProxy, found without its master's socket (proc_pid_stat(5), proc_tid_children(5))."""

from contextlib import suppress
from pathlib import Path

INIT = 1


def siblings(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """The processes of the same program that the same parent has started; none where they cannot be seen."""
    with suppress(OSError, ValueError, IndexError):
        name, parent = _about(proc, pid)
        if parent > INIT:
            children = map(int, (proc / f"{parent}/task/{parent}/children").read_text().split())
            return sorted(child for child in children if child != pid and _named(proc, child) == name)
    return []


def _about(proc: Path, pid: int) -> tuple[str, int]:
    """The name of a process and its parent's pid."""
    name, _, rest = (proc / str(pid) / "stat").read_text().partition("(")[2].rpartition(")")
    return name, int(rest.split()[1])


def _named(proc: Path, pid: int) -> str:
    """Empty for one that has ended meanwhile."""
    with suppress(OSError, ValueError, IndexError):
        return _about(proc, pid)[0]
    return ""
