"""Drain servers: take them out of service, wait until they are idle, and then perform the requested action on them.

`Drains` starts a drain as a background operation and runs it. `Drain` has the arguments, and `DrainWatch` acts on the servers.

* A server is idle if it has at most `Drain.sessions` sessions, including those in former workers.
* After a reload, the servers are drained again in the new worker. The states are stored as overrides.
* A drain ends with an error if another client makes one of its servers ready, or at its timeout.
* The progress of the operation has the states from before the drain, so a drain continues after a restart of this server.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar, Self

from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.servers_in_process import STATE, object_of, store_members
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Conflict, Missing, NativeError, NotFound, RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.operations.operations import OPERATION, RUNNING, BackgroundOperation, Operations, RunningOperation
from haproxy_native.planning import touches
from haproxy_native.planning.touches import CREATE
from haproxy_native.request_context import Author
from haproxy_native.runtime import commands
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread
from haproxy_native.workers.ending import ProxySession, end_sessions
from haproxy_native.workers.workers import SERVERS, Workers, column_of

BACKEND, SERVER = "backend", "server"
_ANY_AT = "*@"
# What the column `status` begins with for a server that is up. A server without checks (`no check`) always is.
_UP = ("UP", "no check")
DRAIN = "drain"
NOTHING, MAINT, DELETE, CUT = "nothing", "maint", "delete", "cut"
STAY, RESTORE = "stay", "restore"


@dataclass(frozen=True)
class ServerStatistics:
    """The row of a server in `show stat`. `address` is an IP address without its port, or the path of a socket."""

    backend: str
    name: str
    address: str
    status: str
    weight: int
    sessions: int

    @property
    def object(self) -> str:
        return object_names.spelled(BACKEND, self.backend, SERVER, self.name)

    @property
    def is_ready(self) -> bool:
        """Return whether the server is up and accepts new requests."""
        return self.status.startswith(_UP) and self.weight > 0


def rows(stat: str) -> list[ServerStatistics]:
    """Return the servers in an answer to `show stat`."""
    servers = []
    for row in answers.table(stat):
        address = row.get("addr", "").rpartition(":")[0].strip("[]") or row.get("addr", "")
        weight, sessions = int(row["weight"] or 0), int(row["scur"] or 0)
        servers.append(ServerStatistics(row["pxname"], row["svname"], address, row["status"], weight, sessions))
    return servers


def backend_and_server(object_: str) -> tuple[str, str]:
    """Return the names of backend and server in an object name."""
    _, backend, _, server = object_names.parsed(object_)
    return backend, server


def resolve_targets(targets: Sequence[str], servers: Iterable[ServerStatistics]) -> list[str]:
    """Return the object names of the servers that targets match.

    A target has one of the forms `backend/shop/server/web1` and `shop/web1`, both possibly with `*`, or `*@10.0.0.7` for an address. Raises
    NotFound for a target that matches no server, and BadRequest for a target of another form.
    """
    by_address: dict[str, list[str]] = defaultdict(list)
    objects: dict[str, None] = {}
    for server in servers:
        by_address[server.address].append(server.object)
        objects[server.object] = None
    names: dict[str, None] = {}
    for target in targets:
        parts = target.split("/")
        if target.startswith(_ANY_AT):
            matching = by_address.get(target.removeprefix(_ANY_AT).strip("[]"), [])
        elif len(parts) == 2 or (len(parts) == 4 and (parts[0], parts[2]) == (BACKEND, SERVER)):
            pattern = f"{BACKEND}/{parts[0]}/{SERVER}/{parts[1]}" if len(parts) == 2 else target
            # Only a target with `*` is compared with every server.
            matching = [pattern] if pattern in objects else [object_ for object_ in objects if object_names.matches(pattern, object_)]
        else:
            raise BadRequest(f"{target[:100]!r} names no servers; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        if not matching:
            raise NotFound(f"there is no server {target} in the process; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        names.update(dict.fromkeys(matching))
    return list(names)


class TooFewReady(Conflict):
    """A drain would leave too few servers ready. The detail is the whole message."""

    label = ""


class DrainFailed(NativeError):
    """A drain has ended before its servers were idle. The detail is the whole message."""


@dataclass(frozen=True)
class Drain:
    """The arguments of a drain."""

    # Object names.
    servers: Sequence[str]
    # The most sessions that an idle server may have.
    sessions: int = 0
    # How many seconds to wait until the servers are idle; None for no limit.
    timeout: float | None = None
    # What to do when they are idle: NOTHING, MAINT, DELETE or CUT.
    then: str = NOTHING
    # What to do at the timeout: STAY drained, RESTORE the former states, or CUT the sessions.
    at_timeout: str = STAY
    # The number of servers that must stay up and ready in each backend.
    keep_ready: int = 0

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        return cls(**{field.name: arguments[field.name] for field in fields(cls) if field.name in arguments})

    @property
    def arguments(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def touched(self) -> list[touches.Touch]:
        """Return what the drain changes, for authorization."""
        last = [touches.Touch(server, touches.DELETE, frozenset((touches.ANY,))) for server in self.servers] if self.then == DELETE else []
        return [*(touches.changed(server, [STATE]) for server in self.servers), *last]

    @cached_property
    def backends(self) -> list[str]:
        return list(dict.fromkeys(backend_and_server(server)[0] for server in self.servers))


def shortage(drains: Iterable[Drain], rows: Iterable[ServerStatistics]) -> str:
    """Return an error text if these drains together leave a backend with too few ready servers; empty if they do not."""
    running = list(drains)
    drained = {server for drain in running for server in drain.servers}
    ready = Counter(row.backend for row in rows if row.is_ready and row.object not in drained)
    minimum: dict[str, int] = {}
    for drain in running:
        minimum.update({backend: max(minimum.get(backend, 0), drain.keep_ready) for backend in drain.backends})
    for backend, least in minimum.items():
        if ready[backend] < least:
            return f"backend {backend} would have {ready[backend]} servers up and ready, and {least} are to stay"
    return ""


# How long to wait until servers are idle after their sessions were cut, in seconds.
CUT_PATIENCE = 30.0
UNKNOWN = "unknown"
# The most backends that are queried one by one. If a drain has more, all backends are queried with one command.
FEW = 20
# The most servers in one change of the process. Other changes wait until it ends.
LOT = 1000
# The object name of a change of several servers in the history.
SEVERAL = "backend/*/server/*"
READY, DRAINED, MAINTENANCE = "ready", "drain", "maint"


class DrainWatch:
    """Counts the sessions of the servers of one drain, and changes the states of these servers. `sessions`: the last counts, by server."""

    def __init__(self, engine: Engine, workers: Workers, running: RunningOperation) -> None:
        self._engine, self._workers, self.running = engine, workers, running
        self.drain = Drain.of(running.now.arguments)
        self.sessions: dict[str, int] = {}
        # Why the drain must not end although its servers may be idle: too few other servers are ready. Empty if the drain may end.
        self.paused = ""
        self._servers = frozenset(self.drain.servers)
        timeout = self.drain.timeout
        self._deadline = None if timeout is None else running.now.created + timeout

    @property
    def has_timed_out(self) -> bool:
        """Return whether the timeout has passed."""
        return self._deadline is not None and time.time() >= self._deadline

    @property
    def has_cut(self) -> bool:
        """Return whether the drain has cut sessions already."""
        return "cut" in self.running.now.progress

    async def is_idle(self) -> bool:
        """Count the sessions and report the progress. Return whether all servers are idle and enough other servers are ready.

        Returns False if HAProxy does not answer. Raises RuntimeFailure, and DrainFailed if another client has made a server ready.
        """
        try:
            servers = await self._drain_worker()
            former = await self._sessions_in_former_workers()
        except RuntimeAbsent:
            return False
        current = {server.object: server.sessions for server in servers}
        self.sessions = {server: current.get(server, 0) + former.get(server, 0) for server in self.drain.servers}
        hidden = [] if self._workers.master else await self._workers.hidden()
        self.paused = shortage([self.drain], servers)
        progress: dict[str, object] = {"sessions": self.sessions, "paused": self.paused}
        if not self._workers.master:
            progress["former_workers"] = UNKNOWN
        if not progress.items() <= self.running.now.progress.items():
            self.running.report(**progress)
        return not self.paused and not hidden and all(count <= self.drain.sessions for count in self.sessions.values())

    async def _drain_worker(self) -> list[ServerStatistics]:
        """Return all servers of the drain's backends. If a new worker is in service, first drain the drain's servers in that worker.

        The states of the drained servers are stored as overrides. The progress records which worker was drained, and the states from before
        the drain. Raises DrainFailed if another client has made a server ready.
        """
        runtime = self._engine.runtime
        worker = await runtime.worker()
        identity = f"{worker.pid}@{worker.started}"
        if self.running.now.progress.get("worker") != identity:
            states = await self._states()
            await self._set({server: DRAINED if state.forced_state == READY else state.forced_state for server, state in states.items()})
            before = self.running.now.progress.get("before") or {server: state.forced_state for server, state in states.items()}
            # A reload may have replaced the worker meanwhile.
            current = await runtime.worker()
            if f"{current.pid}@{current.started}" == identity:
                self.running.report(worker=identity, before=before)
        backends = [argument(backend) for backend in self.drain.backends] if len(self.drain.backends) <= FEW else ["-1"]
        servers: list[ServerStatistics] = []
        for backend in backends:
            servers += await run_in_thread(rows, await runtime.send(f"show stat {backend} {SERVERS} -1"))
        ready = [server.object for server in servers if server.is_ready and server.object in self._servers]
        if ready and await runtime.worker() == worker and self.running.now.progress.get("worker") == identity:
            raise DrainFailed(f"{ready[0]} was made ready by others")
        return servers

    async def _sessions_in_former_workers(self) -> dict[str, int]:
        """Return the number of sessions in former workers, by server. Skips former workers that have ended."""
        sessions: dict[str, int] = {}
        former = await self._workers.former()
        names = {server: "/".join(backend_and_server(server)) for server in self.drain.servers} if former else {}
        for pid in former:
            with suppress(RuntimeAbsent):
                counts = await run_in_thread(column_of, await self._workers.socket(pid).send(f"show stat -1 {SERVERS} -1"), "scur")
                for server, name in names.items():
                    sessions[server] = sessions.get(server, 0) + counts.get(name, 0)
        return sessions

    async def _states(self, servers: Iterable[str] = ()) -> dict[str, ServerState]:
        """Return the states of `servers` in the worker in service. If `servers` is empty, return the states of all servers of the drain."""
        names, states = frozenset(servers) or self._servers, []
        backends = {backend_and_server(server)[0] for server in names}
        for backend in backends if len(backends) <= FEW else [""]:
            with suppress(RuntimeRefused):
                states += await self._engine.runtime.servers(backend)
        return {name: state for state in states if (name := object_of(state)) in names}

    async def _set(self, new_states: Mapping[str, str]) -> None:
        """Set states of servers in the worker in service, and store the states as overrides. Changes up to LOT servers at a time."""
        servers = list(new_states)
        for start in range(0, len(servers), LOT):
            lot = {server: new_states[server] for server in servers[start : start + LOT]}
            name = servers[start] if len(lot) == 1 else SEVERAL
            touched = [touches.changed(server, [STATE]) for server in lot]
            await change_process(self._engine.context, name, partial(self._send_states, lot), touched, author=self.running.author)

    async def _send_states(self, new_states: Mapping[str, str]) -> list[MemberChange]:
        """Send a command for each server that is not in its new state, and return the changes for the history."""
        before = await self._states(new_states)
        if not before:
            return []
        changed = [server for server, state in before.items() if state.forced_state != new_states[server]]
        await commands.apply(self._engine.runtime, [commands.state(*backend_and_server(server), new_states[server]) for server in changed])
        after = await self._states(before)
        changes = [(before[server], after[server]) for server in before if server in after]
        return await store_members(self._engine.context, changes, [STATE], self.running.author)

    async def set_all(self, state: str) -> None:
        """Set the state of all servers of the drain."""
        await self._set(dict.fromkeys(self.drain.servers, state))

    async def restore(self) -> None:
        """Restore the states from before the drain."""
        await self._set(self.running.now.progress.get("before", {}))

    async def cut(self) -> None:
        """End all sessions of the servers, in every process, and set the deadline to CUT_PATIENCE from the current time."""
        servers = {backend_and_server(server) for server in self.drain.servers}

        def has_drained_server(session: ProxySession) -> bool:
            return (session.backend, session.server) in servers

        ended = await end_sessions(self._engine.runtime.send, has_drained_server)
        for pid in await self._workers.former():
            with suppress(RuntimeAbsent):
                ended += await end_sessions(self._workers.socket(pid).send, has_drained_server)
        self.running.report(cut=ended)
        self._deadline = time.time() + CUT_PATIENCE

    async def delete_rest(self) -> None:
        """Delete the servers from the process, one by one. Skips servers that HAProxy refuses to delete."""

        async def delete(server: str, state: ServerState) -> None:
            await commands.apply(self._engine.runtime, commands.delete_server(*backend_and_server(server), was=state.forced_state))

        for server, state in (await self._states()).items():
            with suppress(RuntimeFailure):
                await change_process(self._engine.context, server, partial(delete, server, state), author=self.running.author)


POLL_SECONDS = 0.25


class Drains:
    """Starts the drains of one engine. Their background operations run `work`."""

    def __init__(self, engine: Engine, editor: Editor, workers: Workers) -> None:
        self._engine, self._editor, self._workers = engine, editor, workers

    async def begin(
        self, operations: Operations, targets: Sequence[str], make: Callable[[list[str]], Drain], *, author: Author
    ) -> BackgroundOperation:
        """Start a drain as a background operation. Raises what `check` raises, and TooManyOperations."""
        drain = await self.check(operations, targets, make, author=author)
        return operations.begin(DRAIN, needs=(CREATE, OPERATION), author=author, **drain.arguments)

    async def check(self, operations: Operations, targets: Sequence[str], make: Callable[[list[str]], Drain], *, author: Author) -> Drain:
        """Return the drain that `begin` would start. `make` creates the drain from the object names of the targets.

        Raises Forbidden, NotFound, BadRequest, TooFewReady and RuntimeFailure.
        """
        servers = await run_in_thread(rows, await self._engine.runtime.send(f"show stat -1 {SERVERS} -1"))
        drain = make(resolve_targets(targets, servers))
        author.permit(*drain.touched)
        running = [operation for operation in operations.all() if operation.kind == DRAIN and operation.status == RUNNING]
        if error := shortage([*(Drain.of(operation.arguments) for operation in running), drain], servers):
            raise TooFewReady(error)
        return drain

    async def work(self, running: RunningOperation) -> None:
        """Run the operation of a drain: wait until its servers are idle, and then perform the action `then`. Raises DrainFailed.

        The progress of the operation has the `sessions` of each server, and in `paused` the reason why the drain must not end yet.
        """
        watch = DrainWatch(self._engine, self._workers, running)
        while True:
            began = time.monotonic()
            if await watch.is_idle():
                break
            if watch.has_timed_out:
                await self._handle_timeout(watch)
            # Polling thousands of servers takes long, so the pause leaves HAProxy and this server time for other work.
            await asyncio.sleep(max(POLL_SECONDS, 4 * (time.monotonic() - began)))
        if watch.drain.then == MAINT:
            await watch.set_all(MAINTENANCE)
        elif watch.drain.then == CUT:
            await watch.cut()
        elif watch.drain.then == DELETE:
            await self._delete_servers(watch)

    async def _handle_timeout(self, watch: DrainWatch) -> None:
        """Perform the action `at_timeout`, and raise DrainFailed, which ends the drain.

        If the action is CUT, the first call cuts the sessions and returns, so that the drain continues. A paused drain cuts no sessions.
        """
        left = watch.paused or f"{sum(watch.sessions.values())} sessions are left"
        left = f"{left} after {watch.drain.timeout:g} s"
        if watch.drain.at_timeout == CUT and not watch.has_cut and not watch.paused:
            await watch.cut()
            return
        if watch.drain.at_timeout == RESTORE:
            await watch.restore()
            raise DrainFailed(f"{left}; the servers are as they were before")
        raise DrainFailed(f"{left}; the servers stay drained")

    async def _delete_servers(self, watch: DrainWatch) -> None:
        """Delete the servers from the configuration in one commit, and from the process unless the commit reloads HAProxy."""
        document = self._engine.document
        deletion = DeleteServers(watch.drain.servers, self._editor)
        if deletion.apply(document) is not document:
            outcome = await self._engine.amend([deletion], author=watch.running.author)
            if outcome.reload_id:
                watch.running.report(reload_id=outcome.reload_id)
                return
        await watch.delete_rest()


@dataclass(frozen=True)
class DeleteServers:
    """The operation of a commit that deletes servers from the configuration. Skips servers that the configuration lacks."""

    servers: Sequence[str]
    editor: Editor
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        table = self.editor.resources
        for server in self.servers:
            backend, name = backend_and_server(server)
            for parent in [table[name] for name in table["servers"].parents]:
                if document.find(parent.section, backend):
                    with suppress(Missing):
                        document = self.editor.delete(document, table["servers"], (parent, backend), name)
        return document
