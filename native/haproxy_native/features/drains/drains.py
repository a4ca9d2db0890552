"""Drain servers: take them out of service, wait until they are idle, and then perform the requested action on them.

`Drains` starts a drain as a background operation and runs it. `Drain` has its arguments, and `DrainWatch` acts on the servers.

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
    """The row of a server in `show stat`. `address` is an IP address without port, or another address as it is."""

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
    """Parse an answer to `show stat` for servers."""
    return [_row(row) for row in answers.table(stat)]


def _row(row: dict[str, str]) -> ServerStatistics:
    address = row.get("addr", "").rpartition(":")[0].strip("[]") or row.get("addr", "")
    return ServerStatistics(row["pxname"], row["svname"], address, row["status"], int(row["weight"] or 0), int(row["scur"] or 0))


def named(object_: str) -> tuple[str, str]:
    """Return the names of backend and server in an object name."""
    _, backend, _, server = object_names.parsed(object_)
    return backend, server


def resolved(targets: Sequence[str], there: Iterable[ServerStatistics]) -> list[str]:
    """Return the object names of the servers that targets match.

    A target has one of the forms `backend/shop/server/web1` and `shop/web1`, both possibly with `*`, or `*@10.0.0.7` for an address. Raises
    NotFound for a target that matches no server, and BadRequest for one of another form.
    """
    known = _Known(there)
    names: dict[str, None] = {}
    for target in targets:
        names_of_target = known.named_by(target)
        if not names_of_target:
            raise NotFound(f"there is no server {target} in the process; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        names.update(dict.fromkeys(names_of_target))
    return list(names)


class _Known:
    """An index of servers by name and by address. Only a target with `*` is compared with every server."""

    def __init__(self, there: Iterable[ServerStatistics]) -> None:
        self._addresses: dict[str, list[str]] = defaultdict(list)
        self._objects: dict[str, None] = {}
        for row in there:
            self._addresses[row.address].append(row.object)
            self._objects[row.object] = None

    def named_by(self, target: str) -> list[str]:
        """Return the object names of the servers that a target matches. Raises BadRequest."""
        if target.startswith(_ANY_AT):
            return self._addresses.get(target.removeprefix(_ANY_AT).strip("[]"), [])
        pattern = _pattern(target)
        return [pattern] if pattern in self._objects else [object_ for object_ in self._objects if object_names.matches(pattern, object_)]


def _pattern(target: str) -> str:
    """Return a target as a pattern for object names. Raises BadRequest."""
    match target.split("/"):
        case [backend, server]:
            return f"{BACKEND}/{backend}/{SERVER}/{server}"
        case [kind, _, other, _] if (kind, other) == (BACKEND, SERVER):
            return target
        case _:
            raise BadRequest(f"{target[:100]!r} names no servers; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")


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
        return list(dict.fromkeys(named(server)[0] for server in self.servers))


def shortage(drains: Iterable[Drain], rows: Iterable[ServerStatistics]) -> str:
    """Return an error text if these drains together leave a backend with too few ready servers; empty if they do not."""
    running = list(drains)
    out = {server for drain in running for server in drain.servers}
    ready = Counter(row.backend for row in rows if row.is_ready and row.object not in out)
    wanted: dict[str, int] = {}
    for drain in running:
        wanted.update({backend: max(wanted.get(backend, 0), drain.keep_ready) for backend in drain.backends})
    for backend, least in wanted.items():
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
    """Counts the sessions of the servers of one drain, and changes their states. `sessions` has the last counts, by server."""

    def __init__(self, engine: Engine, workers: Workers, running: RunningOperation) -> None:
        self._engine, self._workers, self.running = engine, workers, running
        self.drain = Drain.of(running.now.arguments)
        self.sessions: dict[str, int] = {}
        # Why the drain must not end although its servers may be idle: too few others are ready. Empty if it may end.
        self.paused = ""
        self._servers = frozenset(self.drain.servers)
        timeout = self.drain.timeout
        self._deadline = None if timeout is None else running.now.created + timeout

    @property
    def is_late(self) -> bool:
        """Return whether the timeout has passed."""
        return self._deadline is not None and time.time() >= self._deadline

    @property
    def has_cut(self) -> bool:
        """Return whether the drain has cut sessions already."""
        return "cut" in self.running.now.progress

    async def is_idle(self) -> bool:
        """Count the sessions and report the progress. Return whether all servers are idle and enough others are ready.

        Returns False if HAProxy does not answer. Raises RuntimeFailure, and DrainFailed if another client has made a server ready.
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
        """Drain the servers if this worker has not been drained yet, and return all servers of their backends.

        Raises DrainFailed if another client has made a server ready.
        """
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
        """Drain those servers that are ready in the worker `identity`, and store the states of all as overrides.

        Records in the progress that this worker was drained. The first call also records the states from before the drain.
        """
        states = await self._states()
        await self._set({server: DRAINED if state.forced_state == READY else state.forced_state for server, state in states.items()})
        before = self.running.now.progress.get("before") or {server: state.forced_state for server, state in states.items()}
        worker = await self._engine.runtime.worker()
        if f"{worker.pid}@{worker.started}" == identity:
            self.running.report(worker=identity, before=before)

    async def _former(self) -> dict[str, int]:
        """Return the sessions of the servers in former workers, by server. Skips former workers that have ended."""
        sessions: dict[str, int] = {}
        former = await self._workers.former()
        names = {server: "/".join(named(server)) for server in self.drain.servers} if former else {}
        for pid in former:
            with suppress(RuntimeAbsent):
                counts = await run_in_thread(column_of, await self._workers.socket(pid).send(f"show stat -1 {SERVERS} -1"), "scur")
                for server, name in names.items():
                    sessions[server] = sessions.get(server, 0) + counts.get(name, 0)
        return sessions

    async def _rows(self) -> list[ServerStatistics]:
        """Return all servers of the drain's backends."""
        some = [argument(backend) for backend in self.drain.backends] if len(self.drain.backends) <= FEW else ["-1"]
        return [
            row for name in some for row in await run_in_thread(rows, await self._engine.runtime.send(f"show stat {name} {SERVERS} -1"))
        ]

    def _report(self, **now: object) -> None:
        """Report members of the progress if any has changed."""
        if not now.items() <= self.running.now.progress.items():
            self.running.report(**now)

    async def _states(self, servers: Iterable[str] = ()) -> dict[str, ServerState]:
        """Return the states of these servers, or of all servers of the drain, in the worker in service."""
        wanted, states = frozenset(servers) or self._servers, []
        backends = {named(server)[0] for server in wanted}
        for backend in backends if len(backends) <= FEW else [""]:
            with suppress(RuntimeRefused):
                states += await self._engine.runtime.servers(backend)
        return {name: state for state in states if (name := object_of(state)) in wanted}

    async def _set(self, wanted: Mapping[str, str]) -> None:
        """Set states of servers in the worker in service, and store them as overrides. Changes up to LOT servers at a time."""
        servers = list(wanted)
        for start in range(0, len(servers), LOT):
            lot = {server: wanted[server] for server in servers[start : start + LOT]}
            name = servers[start] if len(lot) == 1 else SEVERAL
            touched = [touches.changed(server, [STATE]) for server in lot]
            await change_process(self._engine.context, name, partial(self._apply, lot), touched, author=self.running.author)

    async def _apply(self, wanted: Mapping[str, str]) -> list[MemberChange]:
        """Send the commands for the states that differ, and return the changes for the history."""
        before = await self._states(wanted)
        if not before:
            return []
        changed = [server for server, state in before.items() if state.forced_state != wanted[server]]
        await commands.apply(self._engine.runtime, [commands.state(*named(server), wanted[server]) for server in changed])
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
        """End all sessions of the servers, in every process, and extend the deadline by CUT_PATIENCE from now."""
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
        """Delete the servers from the process, one by one. Skips those that HAProxy refuses to delete."""
        for server, state in (await self._states()).items():
            with suppress(RuntimeFailure):
                await change_process(self._engine.context, server, partial(self._delete, server, state), author=self.running.author)

    async def _delete(self, server: str, state: ServerState) -> None:
        await commands.apply(self._engine.runtime, commands.delete_server(*named(server), was=state.forced_state))


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
        """Return the drain that `begin` would start. `make` creates it from the object names of the targets.

        Raises Forbidden, NotFound, BadRequest, TooFewReady and RuntimeFailure.
        """
        there = await self._rows()
        drain = make(resolved(targets, there))
        author.permit(*drain.touched)
        if short := shortage([*_running(operations), drain], there):
            raise TooFewReady(short)
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
            if watch.is_late:
                await self._late(watch)
            # Polling thousands of servers takes long, so the pause leaves HAProxy and this server time for other work.
            await asyncio.sleep(max(POLL_SECONDS, 4 * (time.monotonic() - began)))
        await self._then(watch)

    async def _late(self, watch: DrainWatch) -> None:
        """Perform the action `at_timeout`. Sessions are cut once, unless the drain is paused, and the drain continues.

        Otherwise raises DrainFailed, which ends the drain.
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

    async def _then(self, watch: DrainWatch) -> None:
        """Perform the action `then`."""
        if watch.drain.then == MAINT:
            await watch.set_all(MAINTENANCE)
        elif watch.drain.then == CUT:
            await watch.cut()
        elif watch.drain.then == DELETE:
            await self._delete(watch)

    async def _delete(self, watch: DrainWatch) -> None:
        """Delete the servers from the configuration in one commit. If that does not reload HAProxy, also delete them from the process."""
        now = self._engine.document
        gone = DeleteServers(watch.drain.servers, self._editor)
        if gone.apply(now) is not now:
            outcome = await self._engine.amend([gone], author=watch.running.author)
            if outcome.reload_id:
                watch.running.report(reload_id=outcome.reload_id)
                return
        await watch.delete_rest()

    async def _rows(self) -> list[ServerStatistics]:
        return await run_in_thread(rows, await self._engine.runtime.send(f"show stat -1 {SERVERS} -1"))


@dataclass(frozen=True)
class DeleteServers:
    """The operation of a commit that deletes servers from the configuration. Skips servers that it does not contain."""

    servers: Sequence[str]
    editor: Editor
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        table = self.editor.resources
        for server in self.servers:
            backend, name = named(server)
            for parent in [table[name] for name in table["servers"].parents]:
                if document.find(parent.section, backend):
                    with suppress(Missing):
                        document = self.editor.delete(document, table["servers"], (parent, backend), name)
        return document


def _running(operations: Operations) -> list[Drain]:
    """Return the drains in progress."""
    return [Drain.of(operation.arguments) for operation in operations.all() if operation.kind == DRAIN and operation.status == RUNNING]
