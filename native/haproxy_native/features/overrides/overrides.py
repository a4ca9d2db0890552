"""Make changes of servers in the process survive reloads and restarts of HAProxy.

If a client sets a state, weight, address or port of a server in the process alone, HAProxy forgets it with the worker. `Overrides` stores
such a change as an override, and sets it again in each new worker. An override ends in one of these ways:

* A client deletes it. The former value is then set in the process.
* A client sets the former value again.
* A change of the configuration changes its member or deletes its server.

Values that others have set in the worker, without this server, are not overrides. They are reported, and end with the worker.

A new worker gets the overrides in two ways. Before a reload they are written into the server-state file, if the configuration names one, so
the worker starts with them. After the reload all are set by runtime commands, since some overrides cannot be written into the file. The
ledger has the name of the worker that got all of them. After a crash, the next process sets them again if that is another worker.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from haproxy_native.background import Background
from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Committed, Edited, Event, Reloaded, WorkerChanged
from haproxy_native.commit.ports import Observer, OverriddenMembers
from haproxy_native.commit.servers_in_process import (
    MEMBERS,
    STATE,
    WEIGHT,
    Changes,
    changed_members,
    commands_to_set,
    object_of,
    state_of,
    values_of,
)
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import NotFound, RuntimeAbsent, RuntimeFailure, RuntimeRefused, Unusable
from haproxy_native.features.overrides.ledger import (
    CONFIGURED,
    MAINTENANCE,
    READY,
    Override,
    OverrideLedger,
    configured,
    ended,
    in_process,
)
from haproxy_native.features.overrides.server_state_file import ServerStateFile, loaded_values, reads_states
from haproxy_native.planning import touches
from haproxy_native.planning.effects import Effect
from haproxy_native.planning.observed import Claim, Claimed, Limits, ServerDifference, by_backend, server_differences
from haproxy_native.planning.servers import Servers
from haproxy_native.request_context import Author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.responses import refusal
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.verification import server_limits
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
RETRY_SECONDS = 0.5
# How often overrides are checked without an event, in seconds. No event reports a reload of the unchanged file, as after SIGHUP.
REST_SECONDS = 30.0
# How long a reload waits for the states of servers, in seconds.
PATIENCE = 5.0
# How long the start waits for the worker in service, in seconds.
START_PATIENCE = 1.0
# HAProxy's refusals contain this text if the worker does not have the server or backend.
NO_SUCH = "No such"
# The states of overrides, by the configured value of `maintenance`.
_STATES = {"enabled": MAINTENANCE, "disabled": READY}


class Overrides(Observer):
    """The overrides of one engine. While the context is active, they are set in every new worker."""

    def __init__(self, engine: Engine, editor: Editor) -> None:
        self._engine, self._editor = engine, editor
        self._changed = asyncio.Event()
        self._ledger = OverrideLedger(engine.database, self._changed.set)
        self._state_file = ServerStateFile(editor)
        # The document and the ledger's `changes` at the last write of the server-state file.
        self._written: tuple[Document, int] | None = None
        # Changes of the configuration that `reconcile` has not processed yet, each with its time. They may have ended overrides.
        self._unprocessed: list[tuple[float, Committed | Edited]] = []
        self._background = Background("setting overrides")
        engine.context.events.listen(self._on_event)
        engine.context.observers.add(self)

    async def __aenter__(self) -> Self:
        await self._start()
        self._background.begin(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._background.stop()

    async def _start(self) -> None:
        """End the overrides whose configured values were changed while this server did not run.

        If there are no overrides, record that the worker in service has all of them. Otherwise the first override would be set in that
        worker a second time, and might replace a value that others have set in between.
        """
        await self._look_up_configured()
        if not self._ledger.all():
            with suppress(RuntimeFailure, TimeoutError):
                async with asyncio.timeout(START_PATIENCE):
                    self._ledger.set_worker(_identity(await self._engine.runtime.worker()))

    def all(self) -> list[Override]:
        """Return the overrides, the newest first."""
        return self._ledger.all()

    def is_gapless(self, override: Override) -> bool:
        """Return whether the next worker starts with an override, from the server-state file. Otherwise it gets it after its start."""
        return override.member in (STATE, WEIGHT) and override.object in self._state_file.written

    async def outside(self) -> list[Override]:
        """Return the values that others have set in the worker in service, and that are lost when it ends. Raises RuntimeFailure."""
        return [each for each in map(as_override, await self.unexplained()) if each.member in MEMBERS]

    async def unexplained(self) -> list[ServerDifference]:
        """Return how servers differ from the loaded configuration, except for differences caused by overrides. Raises RuntimeFailure."""
        return (await self.compared())[1]

    async def compared(self) -> tuple[list[Override], list[ServerDifference]]:
        """Return the overrides that the worker in service has, and its other differences from the configuration. Raises RuntimeFailure."""
        runtime = self._engine.runtime
        states = await runtime.servers()
        found = await self._unexplained(states, await server_limits(runtime))
        values = {object_of(state): values_of(state) for state in states} if self._ledger.all() else {}
        made = [each for each in self._ledger.all() if each.object in values and values[each.object][each.member] == each.value]
        return made, found

    async def _unexplained(self, states: Sequence[ServerState], limits: Limits, only: Claimed | None = None) -> list[ServerDifference]:
        """Return the differences of servers from the configuration that no override explains."""
        document, servers = self._engine.running or self._engine.document, Servers(self._editor.grammar)
        found = await run_in_thread(lambda: list(server_differences(document, servers, by_backend(states), limits, only)))
        return [each for each in found if not each.member or not self._explains(as_override(each))]

    def _explains(self, found: Override) -> bool:
        """Return whether the value in the process is that of an override. Others may have set another value since."""
        known = self._ledger.get(found.object, found.member)
        return known is not None and known.value == found.value

    async def _set_by_others(self, states: Sequence[ServerState]) -> list[Override]:
        """Return the members that others have set on these servers, as overrides."""
        known = {(state.backend_name, state.name) for state in states}
        found = await self._unexplained(states, {}, frozenset(Claim(backend, server) for backend, server in known))
        return [as_override(each) for each in found if each.member and (each.backend, each.server) in known]

    async def from_state_files(self) -> list[ServerDifference]:
        """Return the differences from the configuration whose values are in server-state files. Raises RuntimeFailure."""
        if not await run_in_thread(reads_states, self._engine.document):
            return []
        return await self.loaded_from_files(await self.unexplained())

    async def loaded_from_files(self, differing: Sequence[ServerDifference]) -> list[ServerDifference]:
        """Return those differences whose values are in the server-state files that HAProxy reads."""
        document = self._engine.running or self._engine.document
        if not differing or not await run_in_thread(reads_states, document):
            return []
        return await run_in_thread(loaded_values, self._editor, document, differing)

    async def _look_up_configured(self) -> None:
        """Look up the configured values: store those of new overrides, and end the overrides whose configured value has changed."""
        known = self._ledger.all()
        values = await run_in_thread(configured, self._editor, self._engine.document, known)
        now = [(each, values[each.object, each.member]) for each in known if self._ledger.get(each.object, each.member) is each]
        self._ledger.delete([each for each, value in now if each.configured not in (None, value)])
        self._ledger.store([replace(each, configured=value) for each, value in now if each.configured is None])

    async def store_members(self, changes: Changes, members: Collection[str], author: Author) -> None:
        """Store as overrides what an author has set on servers in the process. `members` are those of the request. Raises RuntimeFailure.

        A requested member that had its value already is stored as well, unless it is the configured value: others have set it before, or a
        request of this server that a crash has interrupted.
        """
        self._store(changes, members, author)
        states = [after for _, after in changes]
        now = {(object_of(state), member): value for state in states for member, value in values_of(state).items() if member in members}
        keys = [((each.object, each.member), each) for each in self._ledger.all()]
        missed = [replace(each, value=now[key]) for key, each in keys if key in now and now[key] != each.value]
        missed += [each for each in await self._set_by_others(states) if each.member in members]
        self._ledger.store([replace(each, since=time.time(), author=author.name, configured=None) for each in missed])

    def members_reverted(self, changes: Changes, author: Author) -> None:
        """Update the overrides after a change of the process was reverted. A value that others have set before it is no override."""
        self._store(changes, MEMBERS, author)

    def _store(self, changes: Changes, members: Collection[str], author: Author) -> None:
        self._ledger.store([self._override(each, author) for each in changed_members(changes, members) if each.member in MEMBERS])

    def _override(self, changed: MemberChange, author: Author) -> Override:
        """Return the override for a change. It keeps the former value of an override that it replaces."""
        known = self._ledger.get(changed.object, changed.member)
        former = known.former if known else changed.old
        return Override(changed.object, changed.member, changed.new, former, time.time(), author.name)

    def list_stored_names(self, object_: str) -> list[str]:
        """Return texts that describe the overrides of a server, or of the servers in an object."""
        return [f"override of {each.member} of {each.object}" for each in self._overrides_in(in_process(object_))]

    @asynccontextmanager
    async def follow_rename(self, object_: str, to: str, author: Author) -> AsyncIterator[None]:
        """Copy the overrides of an object to its new name. The body of the context commits the renaming, which ends those of the old name.

        Deletes the copies if the body raises.
        """
        old, new = in_process(object_), in_process(to)
        copies = [replace(each, object=object_names.renamed(each.object, old, new)) for each in self._overrides_in(old)]
        self._ledger.store(copies)
        try:
            yield
        except BaseException:
            self._ledger.delete(copies)
            raise

    def overridden_members(self) -> OverriddenMembers:
        """Return the members of configured servers that have overrides, by backend and server."""
        members: dict[tuple[str, str], set[str]] = defaultdict(set)
        for each in self._ledger.all():
            _, backend, _, name = object_names.parsed(each.object)
            members[backend, name].add(CONFIGURED[each.member])
        return members

    def _overrides_in(self, object_: str) -> list[Override]:
        """Return the overrides of a server, or of the servers in an object."""
        return [override for override in self._ledger.all() if object_names.within(override.object, object_)]

    def deleted(self, server: ServerState) -> None:
        """Delete the overrides of a server that was deleted from the worker in service."""
        self._ledger.delete(self._ledger.overrides_of(object_of(server)))

    def known(self, object_: str) -> Sequence[Override]:
        """Return the overrides of a server. Raises NotFound if it has none."""
        if not (known := self._ledger.overrides_of(object_)):
            raise NotFound(f"{object_} has no overrides; values that were set without this API end with the worker")
        return known

    async def delete(self, object_: str, author: Author) -> None:
        """Set the former values of a server in the process, and delete its overrides. Raises NotFound and RuntimeFailure."""
        known = self.known(object_)

        async def apply() -> list[MemberChange]:
            state = await state_of(self._engine.runtime, object_)
            if state:
                await self._send(state, {override.member: override.former for override in known})
            self._ledger.delete(known)
            await self._write_file()
            return [MemberChange(object_, override.member, override.value, override.former) for override in known] if state else []

        touched = [touches.changed(object_, (override.member for override in known))]
        await change_process(self._engine.context, object_, apply, touched, author=author)

    # -- new workers and changes of the configuration

    async def loading(self, document: Document) -> None:
        """Write the server-state file for a document that HAProxy is about to load, with the present health of servers.

        Waits at most PATIENCE for the states of servers. Without them, the lines have no health.
        """
        await self._delete_ended(self._unprocessed)
        states: list[ServerState] = []
        with suppress(RuntimeFailure, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                for backend in self._state_file.checked(document, self._ledger.all()):
                    with suppress(RuntimeRefused):
                        states += await self._engine.runtime.servers(backend)
        await self._state_file.write(document, self._ledger.all(), states)
        self._written = None

    async def _write_file(self) -> None:
        """Write the server-state file, unless a reload is in progress, or neither overrides nor configuration have changed since."""
        wanted = self._engine.document, self._ledger.changes
        if wanted != self._written and self._engine.context.load is None:
            await self._state_file.write(wanted[0], self._ledger.all(), [])
            self._written = wanted

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Committed | Edited | Reloaded | WorkerChanged):
            self._changed.set()
        if isinstance(event, Committed | Edited) and self._ledger.all():
            self._unprocessed.append((time.time(), event))

    async def _watch(self) -> None:
        """Reconcile after each event, and every REST_SECONDS, until cancelled."""
        while True:
            self._changed.clear()
            is_done = False
            try:
                await self.reconcile()
                is_done = self._ledger.is_read
            except RuntimeFailure as error:
                log.warning("setting the overrides failed: %s; trying again", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(REST_SECONDS if is_done else RETRY_SECONDS):
                    await self._changed.wait()

    async def reconcile(self) -> None:
        """Delete the overrides that changes of the configuration have ended. Set the others in a new worker, or on changed servers.

        Raises RuntimeFailure.
        """
        with suppress(Unusable):
            await self._ledger.read()
        texts, self._unprocessed = self._unprocessed, []
        touched = await self._delete_ended(texts)
        if any(each.configured is None for each in self._ledger.all()):
            await self._look_up_configured()
        await self._write_file()
        worker = self._engine.context.running.worker
        if worker and _identity(worker) != self._ledger.worker:
            async with self._engine.context.process_lock:
                await self.loaded()
        elif touched:
            objects = {in_process(effect.object) for effect in touched}
            async with self._engine.context.process_lock:
                await self._set_in_worker([override for override in self._ledger.all() if override.object in objects])

    async def _delete_ended(self, texts: Sequence[tuple[float, Committed | Edited]]) -> list[Effect]:
        """Delete the overrides that these changes of the configuration have ended, and return the effects of the changes."""
        touched: list[Effect] = []
        for at, event in texts:
            effects = await run_in_thread(_effects, event)
            self._ledger.delete(ended([each for each in self._ledger.all() if each.since <= at], effects))
            touched += effects
        return touched

    async def loaded(self) -> None:
        """Set all overrides in the worker in service, and record its name. The caller holds the process lock. Raises RuntimeFailure."""
        runtime = self._engine.runtime
        await self._set_in_worker(self._ledger.all())
        worker = await runtime.worker()
        if _identity(worker) == self._ledger.worker:
            return
        # The first commands may have reached the former worker.
        await self._set_in_worker(self._ledger.all())
        if await runtime.worker() == worker:
            self._ledger.set_worker(_identity(worker))

    async def _set_in_worker(self, wanted: Sequence[Override]) -> None:
        """Set overrides in the worker in service, including values that it has already. Delete the overrides of missing servers.

        The caller holds the process lock. Raises RuntimeFailure.
        """
        made = [(override, command.text) for override in wanted if (command := await self._command(override))]
        for (override, _), answer in zip(made, await self._send_each([text for _, text in made]), strict=True):
            if (refused := refusal(answer)) is None:
                continue
            log.warning("setting %s of %s to %s failed: %s", override.member, override.object, override.value, refused)
            if NO_SUCH in refused:
                self._ledger.delete([override])

    async def _send_each(self, texts: Sequence[str]) -> list[str]:
        """Send commands and return HAProxy's answer to each. Raises RuntimeFailure."""
        runtime = self._engine.runtime
        if not texts:
            return []
        try:
            return await runtime.send_each(texts)
        except RuntimeAbsent:
            # HAProxy 2.6 does not terminate every refusal, so the answers to several commands cannot be separated.
            return [await runtime.send(text) for text in texts]

    async def _command(self, override: Override) -> Command | None:
        """Return the command that sets an override; None for an address or port that the server has already.

        If an override of an address or port has no server any more, deletes it and returns None.
        """
        _, backend, _, name = object_names.parsed(override.object)
        if override.member == STATE:
            return commands.state(backend, name, override.value)
        if override.member == WEIGHT:
            return commands.weight(backend, name, override.value)
        if state := await state_of(self._engine.runtime, override.object):
            return next(iter(commands_to_set(state, {override.member: override.value})), None)
        self._ledger.delete([override])
        return None

    async def _send(self, now: ServerState, wanted: dict[str, object]) -> None:
        """Set those members of a server that differ. Raises RuntimeRefused."""
        await commands.apply(self._engine.runtime, list(commands_to_set(now, wanted)))


def object_of_server(server: ServerDifference) -> str:
    return object_names.spelled("backend", server.backend, "server", server.server)


def _member(difference: ServerDifference) -> str:
    """Return the name that overrides have for the member of a difference."""
    return next((name for name, configured_ in CONFIGURED.items() if configured_ == difference.member), difference.member)


def as_override(difference: ServerDifference) -> Override:
    """Return a difference in the form of an override, whose former value is the configured one."""
    member, values = _member(difference), (difference.value, difference.declared)
    value, former = (_STATES.get(each, each) for each in values) if member == STATE else values
    return Override(object_of_server(difference), member, value, former, 0.0)


def _identity(worker: Worker) -> str:
    """Return the name of a worker, as `PID@START`."""
    return f"{worker.pid}@{worker.started}"


def _effects(event: Committed | Edited) -> Sequence[Effect]:
    return event.effects
