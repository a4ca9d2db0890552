"""Observes HAProxy's sockets before a reload, and after it until the outcome is certain (verdict.py)."""

import asyncio

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.reload.strategies import Outcome
from haproxy_native.reload.verdict import Look, Patience, Trial, Verdict
from haproxy_native.runtime.client import Runtime, Worker
from haproxy_native.runtime.responses import Processes

POLL = 0.02


class WorkerObserver:
    """Observes workers during one reload. `known`: HAProxy is known to run here, so that no worker counts as stopped."""

    def __init__(self, runtime: Runtime, *, known: bool = True, patience: float = 10.0) -> None:
        self._runtime, self._known, self._patience = runtime, known, Patience.of(patience)
        self.first = Look(0.0)

    @property
    def worker(self) -> Worker | None:
        """The one that answered before the reload."""
        return self.first.worker

    async def before(self) -> None:
        self.first = await self._look(0.0)

    async def after(self, began: float, claim: Outcome) -> Verdict:
        """Returns when the outcome is certain, or will not become so. `began`: Unix time before the reload."""
        clock, trial = asyncio.get_running_loop().time, Trial(self.first, claim, began, self._known, self._patience)
        start = clock()
        while True:
            verdict = trial.judged(await self._look(clock() - start))
            if verdict is not None:
                return verdict
            await asyncio.sleep(POLL)

    async def startup_log(self) -> str:
        """What HAProxy said when it last tried to start a worker; empty where its master cannot be asked, as in 2.6."""
        master = self._runtime.configured_master
        try:
            return await master.startup_log() if master else ""
        except RuntimeAbsent:
            return ""

    async def _look(self, at: float) -> Look:
        return Look(at, await self._worker(), await self._processes(), self._runtime.is_configured)

    async def _worker(self) -> Worker | None:
        try:
            return await self._runtime.worker()
        except RuntimeAbsent:
            return None

    async def _processes(self) -> Processes | None:
        master = self._runtime.configured_master
        try:
            return await master.processes() if master else None
        except RuntimeAbsent:
            return None
