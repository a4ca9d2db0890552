"""The servers of one drain in all processes: put out of service, counted, put back, their sessions ended.

Sessions of workers that reloads have replaced count. After a reload the servers are drained again in the new worker.
"""

import time
from contextlib import suppress
from functools import partial

from haproxy_native.commit.commit import change_process
from haproxy_native.drains.drain import Drain, DrainFailed, shortage
from haproxy_native.drains.servers import Row, named, rows
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.operations.operations import Running
from haproxy_native.overrides.ledger import STATE
from haproxy_native.overrides.overrides import Overrides
from haproxy_native.runtime import commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.workers.sessions import Session, end_sessions
from haproxy_native.workers.workers import SERVERS, Workers, column_of

# After sessions were cut; seconds.
CUT_PATIENCE = 30.0
UNKNOWN = "unknown"
READY, DRAINED, MAINTENANCE = "ready", "drain", "maint"


class Watch:
    """Of one operation. `sessions` of each server, as last counted."""

    def __init__(self, engine: Engine, workers: Workers, overrides: Overrides, running: Running) -> None:
        self._engine, self._workers, self._overrides, self.running = engine, workers, overrides, running
        self.drain = Drain.of(running.now.arguments)
        self.sessions: dict[str, int] = {}
        timeout = self.drain.timeout
        self._deadline = None if timeout is None else running.now.created + timeout

    @property
    def is_late(self) -> bool:
        return self._deadline is not None and time.time() >= self._deadline

    @property
    def has_cut(self) -> bool:
        return "cut" in self.running.now.progress

    async def is_idle(self) -> bool:
        """Whether what is awaited holds; while HAProxy does not answer it does not. Raises DrainFailed where others end the drain."""
        try:
            there = await self._drained()
            former = await self._former()
        except RuntimeAbsent:
            return False
        here = {row.object: row.sessions for row in there}
        self.sessions = {server: here.get(server, 0) + former.get(server, 0) for server in self.drain.servers}
        hidden = [] if self._workers.master else await self._workers.hidden()
        short = shortage([self.drain], there)
        self._report(sessions=self.sessions, paused=short, **({} if self._workers.master else {"former_workers": UNKNOWN}))
        return not short and not hidden and all(count <= self.drain.sessions for count in self.sessions.values())

    async def _drained(self) -> list[Row]:
        """The servers of the backends, those of this drain out of service."""
        worker = await self._engine.runtime.worker()
        identity = f"{worker.pid}@{worker.started}"
        if self.running.now.progress.get("worker") != identity:
            await self._drain_in(identity)
        there = [row for backend in self.drain.backends for row in await self._rows(backend)]
        back = [row.object for row in there if row.object in self.drain.servers and row.is_ready]
        if back and await self._engine.runtime.worker() == worker and self.running.now.progress.get("worker") == identity:
            raise DrainFailed(f"{back[0]} was made ready by others")
        return there

    async def _drain_in(self, identity: str) -> None:
        """All that are ready; in a worker that a reload has started, too."""
        states = {each: state for each in self.drain.servers if (state := await self._state(each))}
        for server, state in states.items():
            if state.forced_state == READY:
                await self._set(server, DRAINED)
        before = self.running.now.progress.get("before") or {server: state.forced_state for server, state in states.items()}
        worker = await self._engine.runtime.worker()
        if f"{worker.pid}@{worker.started}" == identity:
            self.running.report(worker=identity, before=before)

    async def _former(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for pid in await self._workers.former():
            with suppress(RuntimeAbsent):
                counts = column_of(await self._workers.socket(pid).send(f"show stat -1 {SERVERS} -1"), "scur")
                for server in self.drain.servers:
                    found[server] = found.get(server, 0) + counts.get("/".join(named(server)), 0)
        return found

    async def _rows(self, backend: str) -> list[Row]:
        return rows(await self._engine.runtime.send(f"show stat {argument(backend)} {SERVERS} -1"))

    def _report(self, **now: object) -> None:
        if not now.items() <= self.running.now.progress.items():
            self.running.report(**now)

    async def _state(self, server: str) -> ServerState | None:
        """None where the worker in service has it not."""
        backend, name = named(server)
        with suppress(RuntimeRefused):
            return next((each for each in await self._engine.runtime.servers(backend) if each.name == name), None)
        return None

    async def _set(self, server: str, state: str) -> None:
        """In the worker in service; kept over reloads."""
        backend, name = named(server)
        context = self._engine.context

        async def apply() -> None:
            before = await self._state(server)
            if before is None:
                return
            await commands.apply(context.runtime, [commands.state(backend, name, state)])
            if after := await self._state(server):
                self._overrides.record(before, after, [STATE])

        await change_process(context, server, apply)

    async def set_all(self, state: str) -> None:
        for server in self.drain.servers:
            await self._set(server, state)

    async def restore(self) -> None:
        """As they were before the drain."""
        for server, state in self.running.now.progress.get("before", {}).items():
            await self._set(server, state)

    async def cut(self) -> None:
        """Ends all sessions of the servers, in every process."""
        ids = {named(server) for server in self.drain.servers}

        def is_ours(session: Session) -> bool:
            return (session.backend, session.server) in ids

        ended = await end_sessions(self._engine.runtime, is_ours)
        for pid in await self._workers.former():
            with suppress(RuntimeAbsent):
                ended += await end_sessions(self._workers.socket(pid), is_ours)
        self.running.report(cut=ended)
        self._deadline = time.time() + CUT_PATIENCE

    async def delete_rest(self) -> None:
        """From the process, what the file has not had."""
        for server in self.drain.servers:
            if state := await self._state(server):
                with suppress(RuntimeFailure):
                    await change_process(self._engine.context, server, partial(self._delete, server, state))

    async def _delete(self, server: str, state: ServerState) -> None:
        await commands.apply(self._engine.runtime, commands.delete_server(*named(server), was=state.forced_state))
