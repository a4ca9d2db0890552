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
    """End the sessions for which `which` returns True. Return their number, which includes sessions that have ended in the meantime.

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

        The operation ends the sessions of the worker when `after` seconds have passed and fewer than `sessions_below` sessions are left.
        None means that this condition does not apply. Raises NotEndable for the current worker or if there is no master's socket, NotFound
        and TooManyOperations.
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
        """Wait until a former worker has exited, and end its sessions when the conditions in the arguments are met.

        Reports `sessions`, `connections` and `ended`, the number of ended sessions.
        """
        operation = running.now
        pid, after, below = (operation.arguments[name] for name in ("pid", "after", "sessions_below"))
        while (process := await self._find_former(pid, operation.arguments["started"])) is not None:
            counts = {"sessions": process.session_count, "connections": process.connections}
            if not counts.items() <= running.now.progress.items():
                running.report(**counts)
            has_waited = after is None or time.time() - operation.created >= after
            if process.session_count > 0 and has_waited and (below is None or process.session_count < below):
                with suppress(RuntimeAbsent):
                    ended = await end_sessions(self._workers.socket(pid).send)
                    running.report(ended=running.now.progress.get("ended", 0) + ended)
            await asyncio.sleep(POLL_SECONDS)
        running.report(sessions=0, connections=0)

    async def _find_former(self, pid: int, started: float) -> WorkerProcess | None:
        """Return a former worker; None if it has exited, even if another process has its pid."""
        try:
            if pid not in await self._workers.former():
                return None
            process = await self._workers.process(pid)
        except RuntimeAbsent:
            # If the master does not answer either, the worker may still be running.
            with suppress(RuntimeAbsent):
                if pid not in await self._workers.former():
                    return None
            return WorkerProcess(pid, False, started)
        return process if abs(process.started - started) < 1 else None
