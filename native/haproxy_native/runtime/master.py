"""Reload HAProxy through its master process, and list its workers (HAProxy Management Guide, section 9.4)."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.responses import DENIED, Processes, denial_error
from haproxy_native.runtime.socket import Pulse, Socket, parse_address

POLL = 0.02
# A reload request was lost if, this many seconds later, the master answers and has not begun to reload.
MISSED_SECONDS = 1.0
# How many seconds `ReloadWatch` allows for a reload. The worker of a slower reload is noticed at the next query of the worker.
RELOAD_SECONDS = 30.0
# The answer since 3.1 during another client's reload.
_BUSY = "Another reload is still in progress"
# Timeout in seconds for a worker that may be exiting, or a master that may be re-executing itself: either may never answer.
FORMER_SECONDS = 3.0


@dataclass(frozen=True)
class ReloadAnswer:
    # None if the outcome is unknown: the master did not report it, and its processes did not show it.
    success: bool | None
    # The start-up log, if the master returned one.
    log: str

    @property
    def is_busy(self) -> bool:
        """Whether the master was busy with another client's reload, and so did not read the file for this request."""
        return self.success is False and self.log.startswith(_BUSY)


class Master:
    def __init__(self, path: str, *, timeout: float = 30.0, pulse: Pulse | None = None) -> None:
        self.path = path
        self._timeout, self._pulse = timeout, pulse or Pulse()
        self._socket = Socket(path, timeout=timeout, master=True, pulse=self._pulse)

    @property
    def socket_path(self) -> str:
        """The path to connect to, without a prefix such as `unix@`."""
        place = parse_address(self.path)
        return place.path if place and place.path else self.path

    async def reload(self) -> ReloadAnswer:
        """Reload HAProxy, and wait for the outcome. Raises RuntimeAbsent without a master, and RuntimeDenied."""
        before = await self.processes()
        answer = await self._socket.send("reload")
        if answer == DENIED:
            raise denial_error(self.path, (await self._socket.send("show cli level")).strip(), "reload", of_master=True)
        verdict, _, log = f"{answer}\n".partition("\n--\n")
        if verdict.startswith("Success="):
            return ReloadAnswer(verdict.strip() == "Success=1", log)
        # Up to 2.6 the master re-executes itself at once and answers nothing.
        return ReloadAnswer(await self.outcome(before, self._timeout), answer)

    async def processes(self) -> Processes:
        return await self._processes(self._socket)

    async def _processes(self, socket: Socket) -> Processes:
        # A master that re-executes itself closes the connection.
        if not (answer := await socket.send("show proc")):
            raise RuntimeAbsent(f"{self.path}: closed without an answer")
        return answers.processes(answer)

    def process(self, pid: int) -> Socket:
        """Return a socket that reaches a worker by its pid, even if the worker has been replaced."""
        return Socket(self.path, timeout=min(self._timeout, FORMER_SECONDS), pid=pid)

    async def startup_log(self) -> str:
        """Return what HAProxy printed when it last started a worker; empty up to 2.6, which does not store it."""
        answer = await self._socket.send("show startup-logs")
        return "" if answer.startswith((answers.UNKNOWN, DENIED)) else answer

    async def outcome(self, before: Processes, patience: float) -> bool | None:
        """Wait up to `patience` seconds for the end of a reload. Return whether the reload succeeded; None if that is still unknown.

        `before`: the processes before the reload. Also returns None if no reload begins within MISSED_SECONDS.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        while clock() < began + patience:
            processes = None
            # While the master re-executes itself, it does not answer, and it may lose a request that has just arrived.
            with suppress(RuntimeAbsent):
                processes = await self._processes(
                    Socket(self.path, timeout=min(self._timeout, FORMER_SECONDS), master=True, pulse=self._pulse)
                )
            verdict = judge(before, processes) if processes else None
            # Only the master is compared: old workers may exit without a reload.
            if verdict is not None or (processes and processes.master == before.master and clock() >= began + MISSED_SECONDS):
                return verdict
            await asyncio.sleep(POLL)
        return None


class ReloadWatch:
    """Reports whether a reload may be in progress, without sending a command.

    A master closes its connections when it begins a reload, before it starts another worker. So the watch keeps one connection open. The
    end of that connection means that a reload has begun.
    """

    def __init__(self) -> None:
        self._connection: asyncio.Transport | None = None
        # Event loop time when the last connection ended; initially, when this object was created.
        self._ended = asyncio.get_running_loop().time()

    async def is_quiet(self, master: Master | None) -> bool:
        """Return whether no reload has begun for RELOAD_SECONDS; False without a master."""
        loop = asyncio.get_running_loop()
        if self._connection and self._connection.is_closing():
            self._connection, self._ended = None, loop.time()
        if self._connection is None and master and loop.time() >= self._ended + RELOAD_SECONDS:
            with suppress(OSError):
                self._connection, _ = await loop.create_unix_connection(asyncio.Protocol, master.socket_path)
        return self._connection is not None

    def close(self) -> None:
        if self._connection:
            self._connection.abort()


def judge(before: Processes, after: Processes) -> bool | None:
    """Return whether a reload between two observations of the processes has succeeded; None if they show no finished reload."""
    if not after.master or not before.master:
        return None
    if after.master.pid == before.master.pid and after.master.reloads <= before.master.reloads:
        return None
    if any(worker.pid not in before.pids for worker in after.workers):
        return True
    return False if after.master.failed else None
