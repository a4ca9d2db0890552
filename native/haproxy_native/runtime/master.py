"""The master process: reloads, and the list of workers (HAProxy Management Guide, section 9.4)."""

import asyncio
from dataclasses import dataclass

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.responses import DENIED, Processes, denied
from haproxy_native.runtime.socket import Socket

POLL = 0.02
# A master that answers again so long after a request to reload, and has not begun, has not heard it.
UNHEARD_SECONDS = 1.0
# Since 3.1, while another client's reload is at work.
_BUSY = "Another reload is still in progress"
# For an answer of a worker that may be ending, or of a master that may be executing itself: either may give none.
FORMER_SECONDS = 3.0


@dataclass(frozen=True)
class ReloadAnswer:
    """`success` is None where the master did not say and did not show it; `log` is the start-up log, where it gives one.

    `is_busy`: it reloads for another client, and has not read the file for this one.
    """

    success: bool | None
    log: str

    @property
    def is_busy(self) -> bool:
        return self.success is False and self.log.startswith(_BUSY)


class Master:
    def __init__(self, path: str, *, timeout: float = 30.0) -> None:
        self.path = path
        self._timeout = timeout
        self._socket = Socket(path, timeout=timeout, master=True)

    async def reload(self) -> ReloadAnswer:
        """Returns when the master reports the outcome. Raises RuntimeAbsent when there is none to ask, RuntimeDenied."""
        before = await self.processes()
        answer = await self._socket.send("reload")
        if answer == DENIED:
            raise denied(self.path, (await self._socket.send("show cli level")).strip(), "reload", of_master=True)
        verdict, _, log = f"{answer}\n".partition("\n--\n")
        if verdict.startswith("Success="):
            return ReloadAnswer(verdict.strip() == "Success=1", log)
        # Up to 2.6 the master executes itself at once and answers nothing.
        return ReloadAnswer(await self.outcome(before, self._timeout), answer)

    async def processes(self) -> Processes:
        return await self._processes(self._socket)

    async def _processes(self, socket: Socket) -> Processes:
        """Raises RuntimeAbsent for a master that closes the connection because it executes itself."""
        if not (answer := await socket.send("show proc")):
            raise RuntimeAbsent(f"{self.path}: closed without an answer")
        return answers.processes(answer)

    def process(self, pid: int) -> Socket:
        """The socket of one worker, also of one that has been replaced."""
        return Socket(self.path, timeout=min(self._timeout, FORMER_SECONDS), pid=pid)

    async def startup_log(self) -> str:
        """What HAProxy printed when a worker was last started; empty up to 2.6, which does not keep it."""
        answer = await self._socket.send("show startup-logs")
        return "" if answer.startswith((answers.UNKNOWN, DENIED)) else answer

    async def outcome(self, before: Processes, patience: float) -> bool | None:
        """Waits for the reload that began after `before`; None when it cannot be seen in time, or has not begun after a second."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while clock() < began + patience:
            seen = await self._seen()
            verdict = judge(before, seen) if seen else None
            # Old workers that end meanwhile tell nothing of a reload.
            if verdict is not None or (seen and seen.master == before.master and clock() >= began + UNHEARD_SECONDS):
                return verdict
            await asyncio.sleep(POLL)
        return None

    async def _seen(self) -> Processes | None:
        """A master that is executing itself again is away for a moment; what it was asked just before may get no answer."""
        socket = Socket(self.path, timeout=min(self._timeout, FORMER_SECONDS), master=True)
        try:
            return await self._processes(socket)
        except RuntimeAbsent:
            return None


def judge(before: Processes, now: Processes) -> bool | None:
    """Whether a reload between the two has succeeded; None while there is nothing to be seen of one."""
    if not now.master or not before.master:
        return None
    if now.master.pid == before.master.pid and now.master.reloads <= before.master.reloads:
        return None
    if any(worker.pid not in before.pids for worker in now.workers):
        return True
    return False if now.master.failed else None
