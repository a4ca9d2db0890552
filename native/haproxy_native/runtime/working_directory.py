"""Find the directory from which HAProxy loads relative paths: its working directory (HAProxy Configuration Manual, `default-path`).

A master keeps its working directory for all its workers, so `/proc` shows it (proc_pid_cwd(5)). A process that may not look there, such as
the service of this server, reads the option `-C` of HAProxy's command line, or else the unit that starts HAProxy, whose default is the root
directory (systemd.exec(5), WorkingDirectory=).
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from haproxy_native.runtime.client import Worker
from haproxy_native.units import PLACES, read_unit

_BOOTED = re.compile(r"^btime (\d+)$", re.MULTILINE)
# In seconds: how much the start that a worker reports may differ from the start of its process. Up to 3.0 a worker reports the start of the
# master, which has read the configuration before the worker began.
_EARLIER, _LATER = 2.0, 120.0
_ROOT, _SERVICE = Path("/"), ".service"


def is_worker(pid: int, started: float, proc: Path = Path("/proc")) -> bool:
    """Return whether the process with this pid started at `started` (Unix time). Raises OSError, ValueError, IndexError and TypeError.

    A pid from another PID namespace may belong to any process of this host.
    """
    booted = _BOOTED.search((proc / "stat").read_text())
    # The name in parentheses may contain anything.
    ticks = int((proc / str(pid) / "stat").read_text().rpartition(")")[2].split()[19])
    began = int(booted[1]) + ticks / os.sysconf("SC_CLK_TCK") if booted else 0.0
    return started - _EARLIER <= began <= started + _LATER


def name_and_parent(pid: int, proc: Path = Path("/proc")) -> tuple[str, int]:
    """Return the name of a process, and its parent's pid. Raises OSError, ValueError and IndexError."""
    name, _, rest = (proc / str(pid) / "stat").read_text().partition("(")[2].rpartition(")")
    return name, int(rest.split()[1])


class WorkingDirectory:
    """The working directory of one HAProxy. `service`: the name of its unit; `places`: the directories of units."""

    def __init__(self, service: str, places: Sequence[Path] = PLACES, proc: Path = Path("/proc")) -> None:
        self._service, self._places, self._proc = service, places, proc
        self._worker: Worker | None = None
        self._found: Path | None = None

    @property
    def last(self) -> Path | None:
        """The directory that `find` returned last."""
        return self._found

    def find(self, worker: Worker | None) -> Path | None:
        """Return the directory; None if it is unknown, or if this process may not enter it. Blocks.

        `worker`: the worker that answered last. If that worker has exited, the result is the directory that the last call returned.
        """
        found = None
        with suppress(OSError, ValueError, IndexError, TypeError):
            # A worker that is not a process of this host may have the pid of any other process.
            if worker and is_worker(worker.pid, worker.started, self._proc):
                name, parent = name_and_parent(worker.pid, self._proc)
                pids = [worker.pid]
                with suppress(OSError, ValueError, IndexError):
                    if name_and_parent(parent, self._proc)[0] == name:
                        # The parent is the master.
                        pids.insert(0, parent)
                for pid in pids:
                    with suppress(OSError, ValueError, IndexError):
                        found = self._directory_of_process(pid)
                        break
        if found is None and (self._found is None or worker != self._worker):
            found = self._directory_of_unit(self._service)
        if found is not None:
            self._found = found if os.access(found, os.X_OK) else None
        self._worker = worker
        return self._found

    def _directory_of_process(self, pid: int) -> Path | None:
        process = self._proc / str(pid)
        with suppress(OSError):
            # In a `chroot` the working directory is not the one that HAProxy was started in.
            if os.readlink(process / "root") == str(_ROOT):
                return Path(os.readlink(process / "cwd"))
        words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
        # The last service in its control groups is the unit (cgroups(7)).
        names = [name for line in (process / "cgroup").read_text().splitlines() for name in line.split("/")]
        service = next((name for name in reversed(names) if name.endswith(_SERVICE)), "")
        return _option(words) or self._directory_of_unit(service)

    def _directory_of_unit(self, name: str) -> Path | None:
        service = read_unit(name, self._places) if name else None
        if service is None:
            return None
        configured = service.options.get("WorkingDirectory", [""])[-1].removeprefix("-")
        if directory := _option(service.command):
            return directory
        if not configured:
            return _ROOT
        # A directory with a specifier, or `~`, the home directory of a user, remains unknown.
        return Path(configured) if configured.startswith("/") and "%" not in configured else None


def _option(words: Sequence[str]) -> Path | None:
    """Return the directory of HAProxy's option -C; None if the option is missing or its directory is relative."""
    return next((Path(word) for option, word in pairwise(words) if option == "-C" and word.startswith("/")), None)
