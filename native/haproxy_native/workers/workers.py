"""Query the workers of HAProxy: the current one, and old ones that a reload has replaced.

Former workers are reached through the master's socket. Without it, only the current worker can be queried. The memory and the siblings of
a process are read from /proc (proc_pid_smaps(5), proc_pid_stat(5), proc_pid_status(5), proc_tid_children(5)).
"""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeAbsent, RuntimeRefused
from haproxy_native.reload.records import SUCCEEDED, ReloadRecord
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.master import Master
from haproxy_native.runtime.socket import Socket
from haproxy_native.runtime.working_directory import is_worker, name_and_parent

_PSS = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)
_RSS = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)


def memory(pid: int, started: float, proc: Path = Path("/proc")) -> int | None:
    """Return the memory of a process in bytes: its proportional set size or, if that may not be read, its resident set size.

    Returns None if neither may be read, or if the process did not start at `started` (Unix time): a pid from another PID namespace may
    belong to any process here.
    """
    with suppress(OSError, ValueError, IndexError, TypeError):
        if not is_worker(pid, started, proc):
            return None
        for name, pattern in (("smaps_rollup", _PSS), ("status", _RSS)):
            with suppress(OSError):
                if match := pattern.search((proc / str(pid) / name).read_text()):
                    return 1024 * int(match[1])
    return None


INIT = 1


def siblings(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """Return the pids of the other processes with the same name and parent; an empty list if this process may not read them.

    This finds the former workers of a HAProxy without a master's socket.
    """
    with suppress(OSError, ValueError, IndexError):
        name, parent = name_and_parent(pid, proc)
        if parent > INIT:
            found: list[int] = []
            for child in map(int, (proc / f"{parent}/task/{parent}/children").read_text().split()):
                # A child that has ended is skipped.
                with suppress(OSError, ValueError, IndexError):
                    if child != pid and name_and_parent(child, proc)[0] == name:
                        found.append(child)
            return sorted(found)
    return []


NO_MASTER = (
    "former workers are seen through the master's socket alone: start HAProxy with -S and set haproxy.master_runtime and "
    "haproxy.master_worker_mode"
)
FRONTENDS, BACKENDS, SERVERS = 1, 2, 4
# In seconds: how long before the beginning and after the end of a reload its worker may have started. A worker starts before it reads its
# configuration, and the kernel's clocks are coarse.
_BEFORE, _AFTER = 1.0, 60.0


@dataclass(frozen=True)
class WorkerProcess:
    pid: int
    # Whether it is the current worker.
    current: bool
    # Unix time.
    started: float
    # The version of its configuration; None if unknown.
    version: int | None = None
    # Open connections, including those without a session.
    connections: int = 0
    # The number of open sessions of each frontend that has any.
    sessions: Mapping[str, int] = field(default_factory=dict)
    # In bytes; None if unknown.
    memory: int | None = None

    @property
    def session_count(self) -> int:
        return sum(self.sessions.values())


class Workers:
    """The processes of an engine's HAProxy."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def note(self) -> str:
        """What to configure so that former workers can be queried; empty if they can."""
        return "" if self._engine.runtime.configured_master else NO_MASTER

    @property
    def master(self) -> Master | None:
        return self._engine.runtime.configured_master

    async def current(self) -> int:
        """Return the pid of the current worker. Raises RuntimeAbsent."""
        return await self._engine.runtime.worker_pid()

    async def hidden(self) -> list[int]:
        """Return the pids of former workers of a HAProxy without a master's socket, from /proc. Raises RuntimeAbsent."""
        return siblings(await self.current())

    async def former(self) -> list[int]:
        """Return the pids of the workers that were replaced; empty without a master's socket. Raises RuntimeAbsent."""
        if (master := self.master) is None:
            return []
        current = await self.current()
        return sorted((await master.processes()).pids - {current})

    async def all(self) -> list[WorkerProcess]:
        """Return all workers with their memory: the current one, then the former ones, youngest first. Skips workers that exit meanwhile.

        Raises RuntimeFailure.
        """
        current, runtime = await self.current(), self._engine.runtime
        info, stat = await runtime.send("show info float"), await runtime.send(f"show stat -1 {FRONTENDS} -1")
        processes = [self._parse(current, info, stat, current=True)]
        for pid in await self.former():
            with suppress(RuntimeAbsent):
                processes.append(await self.process(pid))
        processes = [replace(process, memory=await asyncio.to_thread(memory, process.pid, process.started)) for process in processes]
        return sorted(processes, key=lambda worker: (not worker.current, -worker.started, -worker.pid))

    async def process(self, pid: int) -> WorkerProcess:
        """Return a former worker, without its memory. Raises RuntimeAbsent if there is no such process, or no master's socket."""
        socket = self.socket(pid)
        info, stat = await socket.send("show info float"), await socket.send(f"show stat -1 {FRONTENDS} -1")
        return self._parse(pid, info, stat, current=False)

    def socket(self, pid: int) -> Socket:
        """Return the socket of a worker. Raises RuntimeAbsent without a master's socket."""
        if (master := self.master) is None:
            raise RuntimeAbsent(NO_MASTER)
        return master.process(pid)

    def _parse(self, pid: int, info: str, stat: str, *, current: bool) -> WorkerProcess:
        facts = answers.info(info)
        started = float(facts.get("Start_time_sec", 0))
        context = self._engine.context
        version: int | None
        if current and context.running.is_current:
            version = context.current.version
        else:
            version = loaded_version(self._engine.reloads.records.all(), pid, started)
        return WorkerProcess(
            pid=int(facts.get("Pid", pid)),
            current=current,
            started=started,
            version=version,
            connections=int(float(facts.get("CurrConns", 0))),
            sessions={name: count for name, count in column_of(stat, "scur").items() if count},
        )

    async def counts(self, kind: int, column: str) -> "Counts":
        """Return a column of `show stat`, such as `scur`, for all proxies or servers of every process.

        `kind` and the errors are those of `statistics`.
        """
        return Counts({name: column_of(text, column) for name, text in (await self.statistics(kind)).items()})

    async def statistics_in_service(self, kind: int) -> tuple[str, str]:
        """Return the name of the current worker, as `PID@START`, and its answer to `show stat`. Raises RuntimeFailure."""
        worker = await self._engine.runtime.worker()
        return f"{worker.pid}@{int(worker.started)}", await self._engine.runtime.send(_statistics(kind))

    async def statistics(self, kind: int) -> dict[str, str]:
        """Return the answers of all processes to `show stat` by their names (`PID@START`), the current worker first.

        `kind`: a sum of FRONTENDS, BACKENDS and SERVERS. Raises RuntimeFailure if the current worker does not answer. Skips former workers
        that do not answer.
        """
        command = _statistics(kind)
        texts = dict([await self.statistics_in_service(kind)])
        for pid in await self.former():
            with suppress(RuntimeAbsent, RuntimeRefused):
                socket = self.socket(pid)
                started = answers.info(await socket.send("show info float")).get("Start_time_sec", "0")
                texts[f"{pid}@{int(float(started))}"] = await socket.send(command)
        return texts


def _statistics(kind: int) -> str:
    return f"show stat -1 {kind} -1"


@dataclass(frozen=True)
class Counts:
    """A count for each object (`proxy` or `proxy/server`) in each process, which is named by its pid and start: `1234@1700000000`."""

    by_process: Mapping[str, Mapping[str, int]]

    def count(self, name: str) -> int:
        """Return the count of a name in all processes."""
        return sum(count.get(name, 0) for count in self.by_process.values())


def column_of(stat: str, column: str) -> dict[str, int]:
    """Return the numbers in a column of `show stat`, by `proxy` or `backend/server`."""
    numbers: dict[str, int] = {}
    for row in answers.table(stat):
        if row.get(column, "").isdigit():
            name = row["pxname"] if row["svname"] in ("FRONTEND", "BACKEND") else f"{row['pxname']}/{row['svname']}"
            numbers[name] = int(row[column])
    return numbers


def loaded_version(records: list[ReloadRecord], pid: int, started: float) -> int | None:
    """Return the version that a worker has loaded by a reload; None if unknown.

    `started`: the Unix time when the worker started. It distinguishes processes with the same pid.
    """
    for record in reversed(records):
        if record.status == SUCCEEDED and record.pid_after == pid and record.started and record.started - _BEFORE <= started:
            within = record.ended is None or started <= record.ended + _AFTER
            return record.version if within else None
    return None
