"""Whether a reload has happened: a worker that was not there before answers. Nothing else counts, no exit code and no message."""

import asyncio
from dataclasses import dataclass

from native.errors import RuntimeAbsent
from native.runtime.answers import Processes
from native.runtime.client import Runtime, Worker
from native.runtime.master import judge

POLL = 0.02


@dataclass(frozen=True)
class Seen:
    """`success` is None where no socket lets us see. `why` tells a failure."""

    success: bool | None
    worker: Worker | None = None
    why: str = ""


class Sight:
    """Looks at the process before a reload, and after it until the outcome is certain.

    `patience`: how long the old worker may go on answering; while the master shows a reload at work, `limit` holds instead,
    and `glance` where no worker answered before. `restart`: how long a HAProxy that somebody else starts anew may be away.
    """

    def __init__(self, runtime: Runtime, *, patience: float = 10.0, limit: float = 60.0, glance: float = 0.5, restart: float = 2.0) -> None:
        self._runtime, self._patience, self._limit, self._glance = runtime, patience, limit, min(glance, patience)
        self._restart = min(restart, patience)
        self.worker: Worker | None = None
        self._processes: Processes | None = None

    async def before(self) -> None:
        self.worker, self._processes = await self._who(), await self._master()

    async def after_failure(self, began: float) -> Seen:
        """For a strategy that says it failed: at once where a worker answers; else HAProxy may be about to start, and to read the file."""
        clock = asyncio.get_running_loop().time
        start = clock()
        while True:
            worker = await self._who()
            if worker is not None and (worker != self.worker if self.worker else worker.started > began):
                return Seen(True, worker)
            if worker or not self._runtime.is_configured or clock() - start >= self._restart:
                return Seen(False if worker or self.worker else None)
            await asyncio.sleep(POLL)

    async def after(self, began: float) -> Seen:
        """`began`: Unix time before the reload, for the case that no worker answered then."""
        if self.worker is None and not self._runtime.is_configured:
            return Seen(None)
        clock = asyncio.get_running_loop().time
        start, worker = clock(), None
        while True:
            worker = await self._who()
            if self._is_new(worker, began):
                return Seen(True, worker)
            now = await self._master()
            if self._has_failed(now):
                return Seen(False, worker, "the master reports a failed reload")
            if clock() - start >= self._may_take(now):
                return self._gave_up(worker, clock() - start)
            await asyncio.sleep(POLL)

    def _may_take(self, now: Processes | None) -> float:
        if self.worker is None and self._processes is None:
            return self._glance
        return self._limit if self._is_at_work(now) else self._patience

    def _gave_up(self, worker: Worker | None, waited: float) -> Seen:
        if worker is not None:
            return Seen(False, worker, f"after {waited:.0f} s the worker of before (pid {worker.pid}) still answers")
        if self.worker is None:
            return Seen(None)
        return Seen(False, None, f"after {waited:.0f} s no worker answers at {self._runtime.address}")

    def _is_new(self, worker: Worker | None, began: float = float("inf")) -> bool:
        if worker is None:
            return False
        # HAProxy tells whole seconds.
        return worker != self.worker if self.worker else worker.started >= int(began)

    def _has_failed(self, now: Processes | None) -> bool:
        return now is not None and self._processes is not None and judge(self._processes, now) is False

    def _is_at_work(self, now: Processes | None) -> bool:
        """A master that does not answer any more is executing itself, one with a worker unknown before is starting it."""
        if self._processes is None:
            return False
        return now is None or any(worker.pid not in self._processes.pids for worker in now.workers)

    async def _who(self) -> Worker | None:
        try:
            return await self._runtime.worker()
        except RuntimeAbsent:
            return None

    async def _master(self) -> Processes | None:
        master = self._runtime.configured_master
        try:
            return await master.processes() if master else None
        except RuntimeAbsent:
            return None
