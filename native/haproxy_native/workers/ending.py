"""End old workers after a reload, by ending their sessions (HAProxy Management Guide, section 9.3, `show sess`).

A replaced worker exits automatically when its last session has ended. No signal is sent.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

from haproxy_native.errors import Conflict, NotFound, RuntimeAbsent
from haproxy_native.operations.operations import BackgroundOperation, Operations, RunningOperation
from haproxy_native.planning.touches import DELETE
from haproxy_native.request_context import Author
from haproxy_native.workers.workers import WorkerProcess, Workers

_ROW = re.compile(r"(0x[0-9a-f]+): .*?\bfe=(\S+) be=(\S+) srv=(\S+)", re.MULTILINE)
# The frontend of clients of the Runtime API, such as the sidecar.
_CLI = "GLOBAL"


class ProxySession(NamedTuple):
    id: str
    frontend: str
    # `<NONE>` and `<none>` until they are known.
    backend: str
    server: str


def parse_sessions(text: str) -> list[ProxySession]:
    """Return the sessions in an answer to `show sess`, without those of the Runtime API."""
    return [session for row in _ROW.finditer(text) if (session := ProxySession(*row.groups())).frontend != _CLI]


async def end_sessions(send: Callable[[str], Awaitable[str]], which: Callable[[ProxySession], bool] = lambda _: True) -> int:
    """End the sessions for which `which` returns True. Return their number, including sessions that clients have ended meanwhile.

    `send`: sends a command to the worker. Raises RuntimeFailure.
    """
    matching = [session for session in parse_sessions(await send("show sess")) if which(session)]
    for session in matching:
        await send(f"shutdown session {session.id}")
    return len(matching)


END_WORKER = "end_worker"
POLL_SECONDS = 0.25


class NotEndable(Conflict):
    """The worker cannot be ended; `detail` is the whole message."""

    label = ""


class WorkerEnding:
    """Ends former workers. Each ending is a background operation, which runs `work`."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def begin(
        self, operations: Operations, pid: int, sessions_below: int | None, after: float | None, *, author: Author
    ) -> BackgroundOperation:
        """Begin the operation that ends a former worker, and return it.

        The operation ends the sessions of the worker after `after` seconds, and when fewer than `sessions_below` sessions are left; None
        means no such condition. Raises NotEndable for the current worker or if there is no master's socket, NotFound and
        TooManyOperations.
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

    async def work(self, running: RunningOperation) -> None:
        """End the worker's sessions when it is due, and run until it has exited. Reports `sessions`, `connections`, `ended`."""
        operation = running.now
        pid, below = operation.arguments["pid"], operation.arguments["sessions_below"]
        while (process := await self._process(pid, operation.arguments["started"])) is not None:
            self._report(running, process)
            if self._is_due(running, process, below):
                with suppress(RuntimeAbsent):
                    ended = await end_sessions(self._workers.socket(pid).send)
                    running.report(ended=running.now.progress.get("ended", 0) + ended)
            await asyncio.sleep(POLL_SECONDS)
        running.report(sessions=0, connections=0)

    def _is_due(self, running: RunningOperation, process: WorkerProcess, below: int | None) -> bool:
        after = running.now.arguments["after"]
        is_late = after is None or time.time() - running.now.created >= after
        return process.session_count > 0 and is_late and (below is None or process.session_count < below)

    def _report(self, running: RunningOperation, process: WorkerProcess) -> None:
        now = {"sessions": process.session_count, "connections": process.connections}
        if not now.items() <= running.now.progress.items():
            running.report(**now)

    async def _process(self, pid: int, started: float) -> WorkerProcess | None:
        """Return the worker; None if it has exited, even if another process has its pid by now."""
        try:
            if pid not in await self._workers.former():
                return None
            process = await self._workers.process(pid)
        except RuntimeAbsent:
            # If the master does not answer either, the worker may still be running.
            return None if await self._is_gone(pid) else WorkerProcess(pid, False, started)
        return process if abs(process.started - started) < 1 else None

    async def _is_gone(self, pid: int) -> bool:
        with suppress(RuntimeAbsent):
            return pid not in await self._workers.former()
        return False
