"""Make changes of servers in the process survive reloads and restarts of HAProxy.

If a client sets the state, weight, address or port of a server in the running process but not in the configuration, the value is lost when
the worker ends. `Overrides` stores such a value as an override, and sets it again in each new worker. An override ends if:

* a client deletes the override, which also sets the former value in the process;
* a client sets the former value again;
* a change of the configuration changes the same member of the server, or deletes the server.

Values that others have set in the worker through HAProxy's own socket are not overrides. They are reported, and end with the worker.

A new worker gets the overrides in two ways. Before a reload, the overrides are written into the server-state file, if the configuration
names one, so that the worker starts with them. After the reload, runtime commands set all of them, because some overrides cannot be written
into the file. The ledger then records the name of the worker. If this server crashes, its next process sets the overrides again unless the
worker in service has this name.
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
    configured_values,
    ended_overrides,
    name_in_process,
)
from haproxy_native.features.overrides.server_state_file import ServerStateFile, loaded_values, reads_states
from haproxy_native.planning import touches
from haproxy_native.planning.effects import Effect
from haproxy_native.planning.observed import Claim, Claimed, Limits, ServerDifference, by_backend, server_differences
from haproxy_native.planning.servers import Servers
from haproxy_native.request_context import Author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
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
        engine.context.events.listen(self.on_event)
        engine.context.observers.append(self)

    async def __aenter__(self) -> Self:
        # Ends the overrides whose configured values were changed while this server did not run.
        await self._look_up_configured()
        if not self._ledger.all():
            # Unless the worker in service is recorded, `reconcile` would set the first override in this worker a second time. It might then
            # replace a value that others have set in between.
            with suppress(RuntimeFailure, TimeoutError):
                async with asyncio.timeout(START_PATIENCE):
                    self._ledger.set_worker(_worker_name(await self._engine.runtime.worker()))
        self._background.begin(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._background.stop()

    def all(self) -> list[Override]:
        """Return the overrides, the newest first."""
        return self._ledger.all()

    def is_gapless(self, override: Override) -> bool:
        """Return whether the server-state file has the override, so that the next worker starts with it."""
        return override.member in (STATE, WEIGHT) and override.object in self._state_file.written

    async def outside(self) -> list[Override]:
        """Return the values that others have set in the worker in service, and that are lost when it ends. Raises RuntimeFailure."""
        _, differences = await self.compared()
        return [override for override in map(as_override, differences) if override.member in MEMBERS]

    async def compared(self) -> tuple[list[Override], list[ServerDifference]]:
        """Return the overrides that the worker in service has, and its other differences from the configuration. Raises RuntimeFailure."""
        runtime = self._engine.runtime
        states = await runtime.servers()
        differences = await self._unexplained_differences(states, await server_limits(runtime))
        values = {object_of(state): values_of(state) for state in states} if self._ledger.all() else {}
        in_effect = [each for each in self._ledger.all() if each.object in values and values[each.object][each.member] == each.value]
        return in_effect, differences

    async def _unexplained_differences(
        self, states: Sequence[ServerState], limits: Limits, only: Claimed | None = None
    ) -> list[ServerDifference]:
        """Return the differences of servers from the loaded configuration, except for values that overrides have set."""
        document, servers = self._engine.running or self._engine.document, Servers(self._editor.grammar)
        differences = await run_in_thread(lambda: list(server_differences(document, servers, by_backend(states), limits, only)))
        unexplained = []
        for difference in differences:
            set_value = as_override(difference)
            override = self._ledger.get(set_value.object, set_value.member)
            if not difference.member or override is None or override.value != set_value.value:
                unexplained.append(difference)
        return unexplained

    async def from_state_files(self) -> list[ServerDifference]:
        """Return the differences from the configuration whose values are in server-state files. Raises RuntimeFailure."""
        if not await run_in_thread(reads_states, self._engine.document):
            return []
        _, differences = await self.compared()
        return await self.loaded_from_files(differences)

    async def loaded_from_files(self, differing: Sequence[ServerDifference]) -> list[ServerDifference]:
        """Return the differences whose values are in the server-state files that HAProxy reads."""
        document = self._engine.running or self._engine.document
        if not differing or not await run_in_thread(reads_states, document):
            return []
        return await run_in_thread(loaded_values, self._editor, document, differing)

    async def _look_up_configured(self) -> None:
        """Store the configured values of new overrides, and end the overrides whose configured value has changed."""
        overrides = self._ledger.all()
        values = await run_in_thread(configured_values, self._editor, self._engine.document, overrides)
        stored = [(each, values[each.object, each.member]) for each in overrides if self._ledger.get(each.object, each.member) is each]
        self._ledger.delete([override for override, value in stored if override.configured not in (None, value)])
        self._ledger.store([replace(override, configured=value) for override, value in stored if override.configured is None])

    async def store_members(self, changes: Changes, members: Collection[str], author: Author) -> None:
        """Store as overrides what an author has set on servers in the process. `members` are those of the request. Raises RuntimeFailure.

        A requested member that already had the requested value is stored as well, unless that is the configured value. Such a value was set
        by others, or by an earlier request that a crash of this server has interrupted.
        """
        self._store_changed(changes, members, author)
        states = [after for _, after in changes]
        values = {(object_of(state), member): value for state in states for member, value in values_of(state).items() if member in members}
        missed = []
        for override in self._ledger.all():
            value = values.get((override.object, override.member), override.value)
            if value != override.value:
                missed.append(replace(override, value=value))
        names = {(state.backend_name, state.name) for state in states}
        claims = frozenset(Claim(backend, server) for backend, server in names)
        for difference in await self._unexplained_differences(states, {}, claims):
            if difference.member and (difference.backend, difference.server) in names:
                override = as_override(difference)
                if override.member in members:
                    missed.append(override)
        self._ledger.store([replace(override, since=time.time(), author=author.name, configured=None) for override in missed])

    def members_reverted(self, changes: Changes, author: Author) -> None:
        """Update the overrides after a change of the process was reverted. A value that others have set before it is no override."""
        self._store_changed(changes, MEMBERS, author)

    def _store_changed(self, changes: Changes, members: Collection[str], author: Author) -> None:
        """Store the changed members as overrides. An override that replaces another has the same former value."""
        overrides = []
        for change in changed_members(changes, members):
            if change.member in MEMBERS:
                replaced = self._ledger.get(change.object, change.member)
                former = replaced.former if replaced else change.old
                overrides.append(Override(change.object, change.member, change.new, former, time.time(), author.name))
        self._ledger.store(overrides)

    def list_stored_names(self, object_: str) -> list[str]:
        """Return texts that describe the overrides of a server, or of the servers in an object."""
        return [f"override of {each.member} of {each.object}" for each in self._overrides_in(name_in_process(object_))]

    @asynccontextmanager
    async def follow_rename(self, object_: str, to: str, author: Author) -> AsyncIterator[None]:
        """Copy the overrides of an object to its new name while the body of the context commits the renaming.

        The commit ends the overrides of the old name. If the body raises, the copies are deleted.
        """
        old, new = name_in_process(object_), name_in_process(to)
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
        for override in self._ledger.all():
            _, backend, _, name = object_names.parsed(override.object)
            members[backend, name].add(CONFIGURED[override.member])
        return members

    def _overrides_in(self, object_: str) -> list[Override]:
        """Return the overrides of a server, or of the servers in an object."""
        return [override for override in self._ledger.all() if object_names.within(override.object, object_)]

    def deleted(self, server: ServerState) -> None:
        """Delete the overrides of a server that was deleted from the worker in service."""
        self._ledger.delete(self._ledger.overrides_of(object_of(server)))

    def known(self, object_: str) -> Sequence[Override]:
        """Return the overrides of a server. Raises NotFound if the server has none."""
        if not (overrides := self._ledger.overrides_of(object_)):
            raise NotFound(f"{object_} has no overrides; values that were set without this API end with the worker")
        return overrides

    async def delete(self, object_: str, author: Author) -> None:
        """Set the former values of a server in the process, and delete its overrides. Raises NotFound and RuntimeFailure."""
        overrides = self.known(object_)

        async def apply() -> list[MemberChange]:
            runtime = self._engine.runtime
            state = await state_of(runtime, object_)
            if state:
                former = {override.member: override.former for override in overrides}
                await commands.apply(runtime, list(commands_to_set(state, former)))
            self._ledger.delete(overrides)
            await self._write_file()
            return [MemberChange(object_, override.member, override.value, override.former) for override in overrides] if state else []

        touched = [touches.changed(object_, (override.member for override in overrides))]
        await change_process(self._engine.context, object_, apply, touched, author=author)

    # -- new workers and changes of the configuration

    async def loading(self, document: Document) -> None:
        """Write the server-state file for a document that HAProxy is about to load, with the present health of servers.

        If HAProxy does not report the servers within PATIENCE, the lines are written with every server up.
        """
        await self._delete_ended(self._unprocessed)
        states: list[ServerState] = []
        with suppress(RuntimeFailure, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                for backend in self._state_file.backends_with_health(document, self._ledger.all()):
                    with suppress(RuntimeRefused):
                        states += await self._engine.runtime.servers(backend)
        await self._state_file.write(document, self._ledger.all(), states)
        self._written = None

    async def _write_file(self) -> None:
        """Write the server-state file if overrides or configuration have changed since the last write. Skips this during a reload."""
        document, changes = self._engine.document, self._ledger.changes
        if (document, changes) != self._written and self._engine.context.load is None:
            await self._state_file.write(document, self._ledger.all(), [])
            self._written = document, changes

    def on_event(self, event: Event) -> None:
        """Wake the background task. Queue a change of the configuration for it, because the change may end overrides."""
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
        """Delete the overrides that changes of the configuration have ended, and set the others in a new worker or on changed servers.

        Raises RuntimeFailure.
        """
        with suppress(Unusable):
            await self._ledger.read()
        changes, self._unprocessed = self._unprocessed, []
        effects = await self._delete_ended(changes)
        if any(override.configured is None for override in self._ledger.all()):
            await self._look_up_configured()
        await self._write_file()
        worker = self._engine.context.running.worker
        if worker and _worker_name(worker) != self._ledger.worker:
            async with self._engine.context.process_lock:
                await self.loaded()
        elif effects:
            objects = {name_in_process(effect.object) for effect in effects}
            async with self._engine.context.process_lock:
                await self._set_in_worker([override for override in self._ledger.all() if override.object in objects])

    async def _delete_ended(self, changes: Sequence[tuple[float, Committed | Edited]]) -> list[Effect]:
        """Delete the overrides that these changes of the configuration have ended, and return the effects of the changes."""
        if not changes:
            return []
        effects_by_change = await run_in_thread(lambda: [(changed_at, event.effects) for changed_at, event in changes])
        for changed_at, effects in effects_by_change:
            older = [override for override in self._ledger.all() if override.since <= changed_at]
            self._ledger.delete(ended_overrides(older, effects))
        return [effect for _, effects in effects_by_change for effect in effects]

    async def loaded(self) -> None:
        """Set all overrides in the worker in service, and record its name. The caller holds the process lock. Raises RuntimeFailure."""
        runtime = self._engine.runtime
        await self._set_in_worker(self._ledger.all())
        worker = await runtime.worker()
        if _worker_name(worker) == self._ledger.worker:
            return
        # The first commands may have reached the former worker.
        await self._set_in_worker(self._ledger.all())
        if await runtime.worker() == worker:
            self._ledger.set_worker(_worker_name(worker))

    async def _set_in_worker(self, overrides: Sequence[Override]) -> None:
        """Set overrides in the worker in service, also if it has their values. Delete the overrides of missing servers.

        The caller holds the process lock. Raises RuntimeFailure.
        """
        runtime, sent, texts = self._engine.runtime, list[Override](), list[str]()
        for override in overrides:
            _, backend, _, name = object_names.parsed(override.object)
            if override.member == STATE:
                to_send = [commands.state(backend, name, override.value)]
            elif override.member == WEIGHT:
                to_send = [commands.weight(backend, name, override.value)]
            elif state := await state_of(runtime, override.object):
                to_send = list(commands_to_set(state, {override.member: override.value}))
            else:
                self._ledger.delete([override])
                continue
            # There is no command for an address or port that the server has already.
            if to_send:
                sent.append(override)
                texts.append(to_send[0].text)
        if not texts:
            return
        try:
            answers = await runtime.send_each(texts)
        except RuntimeAbsent:
            # HAProxy 2.6 does not terminate every refusal, so the answers to several commands cannot be separated.
            answers = [await runtime.send(text) for text in texts]
        for override, answer in zip(sent, answers, strict=True):
            if (refused := refusal(answer)) is not None:
                log.warning("setting %s of %s to %s failed: %s", override.member, override.object, override.value, refused)
                if NO_SUCH in refused:
                    self._ledger.delete([override])


def object_of_server(server: ServerDifference) -> str:
    return object_names.spelled("backend", server.backend, "server", server.server)


def as_override(difference: ServerDifference) -> Override:
    """Convert a difference to an override. The configured value becomes the `former` value of the override."""
    member = next((name for name, configured_name in CONFIGURED.items() if configured_name == difference.member), difference.member)
    values = difference.value, difference.declared
    value, former = (_STATES.get(each, each) for each in values) if member == STATE else values
    return Override(object_of_server(difference), member, value, former, 0.0)


def _worker_name(worker: Worker) -> str:
    """Return the name of a worker, as `PID@START`."""
    return f"{worker.pid}@{worker.started}"
