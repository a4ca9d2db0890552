"""`DrainWatch`: the servers of one drain in all processes. They are drained, counted, restored, and their sessions ended.

Sessions of former workers count as well. After a reload the servers are drained again in the new worker.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial

from haproxy_native.beside import beside
from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.servers_in_process import STATE, held, object_of
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.features.drains.drain import Drain, DrainFailed, ServerStatistics, named, rows, shortage
from haproxy_native.operations.operations import RunningOperation
from haproxy_native.planning import touches
from haproxy_native.runtime import commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.workers.ending import ProxySession, end_sessions
from haproxy_native.workers.workers import SERVERS, Workers, column_of

# How long to wait for idle servers after sessions were cut, in seconds.
CUT_PATIENCE = 30.0
UNKNOWN = "unknown"
# Up to so many backends are read one by one; otherwise all are read at once.
FEW = 20
# How many servers are changed at once, while other changes of the process wait, and the name of such a change.
LOT = 1000
SEVERAL = "backend/*/server/*"
READY, DRAINED, MAINTENANCE = "ready", "drain", "maint"


class DrainWatch:
    """Watches the servers of one operation. `sessions` has the last count of each server."""

    def __init__(self, engine: Engine, workers: Workers, running: RunningOperation) -> None:
        self._engine, self._workers, self.running = engine, workers, running
        self.drain = Drain.of(running.now.arguments)
        self.sessions: dict[str, int] = {}
        # Why the drain must not end although the servers may be idle.
        self.paused = ""
        self._servers = frozenset(self.drain.servers)
        timeout = self.drain.timeout
        self._deadline = None if timeout is None else running.now.created + timeout

    @property
    def is_late(self) -> bool:
        return self._deadline is not None and time.time() >= self._deadline

    @property
    def has_cut(self) -> bool:
        return "cut" in self.running.now.progress

    async def is_idle(self) -> bool:
        """Count sessions, and return whether all servers are idle and may leave; False if HAProxy does not answer.

        Raises DrainFailed if somebody else has made a server ready.
        """
        try:
            there = await self._drained()
            former = await self._former()
        except RuntimeAbsent:
            return False
        here = {row.object: row.sessions for row in there}
        self.sessions = {server: here.get(server, 0) + former.get(server, 0) for server in self.drain.servers}
        hidden = [] if self._workers.master else await self._workers.hidden()
        self.paused = shortage([self.drain], there)
        self._report(sessions=self.sessions, paused=self.paused, **({} if self._workers.master else {"former_workers": UNKNOWN}))
        return not self.paused and not hidden and all(count <= self.drain.sessions for count in self.sessions.values())

    async def _drained(self) -> list[ServerStatistics]:
        """Drain the servers in a new worker, and return the servers of the backends. Raises DrainFailed."""
        worker = await self._engine.runtime.worker()
        identity = f"{worker.pid}@{worker.started}"
        if self.running.now.progress.get("worker") != identity:
            await self._drain_in(identity)
        there = await self._rows()
        back = [row.object for row in there if row.is_ready and row.object in self._servers]
        if back and await self._engine.runtime.worker() == worker and self.running.now.progress.get("worker") == identity:
            raise DrainFailed(f"{back[0]} was made ready by others")
        return there

    async def _drain_in(self, identity: str) -> None:
        """Drain the servers that are ready in a worker; the states of the others are stored as overrides as well."""
        states = await self._states()
        await self._set({server: DRAINED if state.forced_state == READY else state.forced_state for server, state in states.items()})
        before = self.running.now.progress.get("before") or {server: state.forced_state for server, state in states.items()}
        worker = await self._engine.runtime.worker()
        if f"{worker.pid}@{worker.started}" == identity:
            self.running.report(worker=identity, before=before)

    async def _former(self) -> dict[str, int]:
        sessions: dict[str, int] = {}
        former = await self._workers.former()
        names = {server: "/".join(named(server)) for server in self.drain.servers} if former else {}
        for pid in former:
            with suppress(RuntimeAbsent):
                counts = await beside(column_of, await self._workers.socket(pid).send(f"show stat -1 {SERVERS} -1"), "scur")
                for server, name in names.items():
                    sessions[server] = sessions.get(server, 0) + counts.get(name, 0)
        return sessions

    async def _rows(self) -> list[ServerStatistics]:
        """Return the servers of the backends."""
        some = [argument(backend) for backend in self.drain.backends] if len(self.drain.backends) <= FEW else ["-1"]
        return [row for name in some for row in await beside(rows, await self._engine.runtime.send(f"show stat {name} {SERVERS} -1"))]

    def _report(self, **now: object) -> None:
        if not now.items() <= self.running.now.progress.items():
            self.running.report(**now)

    async def _states(self, servers: Iterable[str] = ()) -> dict[str, ServerState]:
        """Return the states of these servers, or of all, in the worker in service."""
        wanted, states = frozenset(servers) or self._servers, []
        backends = {named(server)[0] for server in wanted}
        for backend in backends if len(backends) <= FEW else [""]:
            with suppress(RuntimeRefused):
                states += await self._engine.runtime.servers(backend)
        return {name: state for state in states if (name := object_of(state)) in wanted}

    async def _set(self, wanted: Mapping[str, str]) -> None:
        """Set states of servers in the worker in service, up to LOT in one change. They stay over reloads."""
        servers = list(wanted)
        for start in range(0, len(servers), LOT):
            lot = {server: wanted[server] for server in servers[start : start + LOT]}
            name = servers[start] if len(lot) == 1 else SEVERAL
            touched = [touches.changed(server, [STATE]) for server in lot]
            await change_process(self._engine.context, name, partial(self._apply, lot), touched, author=self.running.author)

    async def _apply(self, wanted: Mapping[str, str]) -> list[MemberChange]:
        before = await self._states(wanted)
        if not before:
            return []
        changed = [server for server, state in before.items() if state.forced_state != wanted[server]]
        await commands.apply(self._engine.runtime, [commands.state(*named(server), wanted[server]) for server in changed])
        after = await self._states(before)
        changes = [(before[server], after[server]) for server in before if server in after]
        return await held(self._engine.context, changes, [STATE], self.running.author)

    async def set_all(self, state: str) -> None:
        await self._set(dict.fromkeys(self.drain.servers, state))

    async def restore(self) -> None:
        """Restore the states from before the drain."""
        await self._set(self.running.now.progress.get("before", {}))

    async def cut(self) -> None:
        """End all sessions of the servers, in every process."""
        ids = {named(server) for server in self.drain.servers}

        def is_ours(session: ProxySession) -> bool:
            return (session.backend, session.server) in ids

        ended = await end_sessions(self._engine.runtime.send, is_ours)
        for pid in await self._workers.former():
            with suppress(RuntimeAbsent):
                ended += await end_sessions(self._workers.socket(pid).send, is_ours)
        self.running.report(cut=ended)
        self._deadline = time.time() + CUT_PATIENCE

    async def delete_rest(self) -> None:
        """Delete servers from the process that the configuration did not have."""
        for server, state in (await self._states()).items():
            with suppress(RuntimeFailure):
                await change_process(self._engine.context, server, partial(self._delete, server, state), author=self.running.author)

    async def _delete(self, server: str, state: ServerState) -> None:
        await commands.apply(self._engine.runtime, commands.delete_server(*named(server), was=state.forced_state))
