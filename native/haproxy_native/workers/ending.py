"""The end of a worker that a reload has replaced: its sessions are ended, then it ends by itself. No signal is sent."""

import asyncio
import time
from contextlib import suppress

from haproxy_native.errors import Conflict, NotFound, RuntimeAbsent
from haproxy_native.operations.operations import Operation, Operations, Running
from haproxy_native.planning.touches import DELETE
from haproxy_native.request_context import Author
from haproxy_native.workers.sessions import end_sessions
from haproxy_native.workers.workers import WorkerProcess, Workers

END_WORKER = "end_worker"
LOOK_SECONDS = 0.25


class NotEndable(Conflict):
    """Its detail is the whole text."""

    label = ""


class Ending:
    """Ends former workers, each as an operation; `work` is its work."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def begin(
        self, operations: Operations, pid: int, sessions_below: int | None, after: float | None, *, author: Author
    ) -> Operation:
        """Its sessions are ended when there are fewer than `sessions_below`, and not before `after` seconds, as far as they are given.

        Raises NotEndable for the worker in service and where there is no master to ask, NotFound, TooManyOperations.
        """
        if note := self._workers.note:
            raise NotEndable(note)
        if pid not in (former := await self._workers.former()):
            if pid == await self._workers.current():
                raise NotEndable(f"worker {pid} is in service; a reload replaces it")
            raise NotFound(f"there is no worker {pid}; former ones are {', '.join(map(str, former)) or 'none'}")
        process = await self._workers.process(pid)
        needs = (DELETE, f"worker/{pid}")
        arguments = {"pid": pid, "started": process.started, "sessions_below": sessions_below, "after": after}
        return operations.begin(END_WORKER, author=author, needs=needs, **arguments)

    async def work(self, running: Running) -> None:
        """Reports `sessions` and `connections`, and how many sessions were `ended`. Done when the process is gone."""
        operation = running.now
        pid, below = operation.arguments["pid"], operation.arguments["sessions_below"]
        while (process := await self._process(pid, operation.arguments["started"])) is not None:
            self._report(running, process)
            if self._is_due(running, process, below):
                with suppress(RuntimeAbsent):
                    ended = await end_sessions(self._workers.socket(pid))
                    running.report(ended=running.now.progress.get("ended", 0) + ended)
            await asyncio.sleep(LOOK_SECONDS)
        running.report(sessions=0, connections=0)

    def _is_due(self, running: Running, process: WorkerProcess, below: int | None) -> bool:
        after = running.now.arguments["after"]
        is_late = after is None or time.time() - running.now.created >= after
        return process.session_count > 0 and is_late and (below is None or process.session_count < below)

    def _report(self, running: Running, process: WorkerProcess) -> None:
        now = {"sessions": process.session_count, "connections": process.connections}
        if not now.items() <= running.now.progress.items():
            running.report(**now)

    async def _process(self, pid: int, started: float) -> WorkerProcess | None:
        """Returns the worker; None if it has ended. Another process with its pid is a different one."""
        try:
            if pid not in await self._workers.former():
                return None
            process = await self._workers.process(pid)
        except RuntimeAbsent:
            return None if await self._is_gone(pid) else WorkerProcess(pid, False, started)
        return process if abs(process.started - started) < 1 else None

    async def _is_gone(self, pid: int) -> bool:
        """False while the master does not answer."""
        with suppress(RuntimeAbsent):
            return pid not in await self._workers.former()
        return False
