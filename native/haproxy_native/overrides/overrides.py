"""Changes of servers in the process alone: recorded as they are made, made again in each new worker, and taken back."""

import asyncio
import logging
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from haproxy_native.background import Background
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Committed, Edited, Event, Reloaded
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing, NoParent, NotFound, RuntimeFailure, RuntimeRefused
from haproxy_native.overrides.ledger import ADDRESS, MEMBERS, PORT, STATE, WEIGHT, Override, OverrideLedger, ended
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.request_context import author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.server_state import CONFIGURED_MAINT, ServerState, server_states

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.5
READY, MAINTENANCE = "ready", "maint"
# Collections whose sections have servers.
HOLDERS = ("backends", "listens")


class Overrides:
    """Those of one engine. Used as a context: inside it they are made again in new workers."""

    def __init__(self, engine: Engine, editor: Editor) -> None:
        self._engine, self._editor = engine, editor
        self._ledger = OverrideLedger(engine.settings.storage / "overrides.json")
        self._changed = asyncio.Event()
        self._texts: list[Committed | Edited] = []
        self._watching = Background("keeping what was changed in the process")
        engine.context.events.listen(self._heard)

    async def __aenter__(self) -> Self:
        self._watching.begin(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._watching.stop()

    def all(self) -> list[Override]:
        """The newest first."""
        return self._ledger.all()

    async def outside(self) -> list[Override]:
        """What others have set in the worker in service, which ends with it. Raises RuntimeFailure."""
        found = server_states(await self._engine.runtime.read("show servers state", r"1\n"))
        differing = [each for state in found for each in _differing(state) if self._ledger.get(each.object, each.member) is None]
        return [each for each in differing if each.value != self._configured(each)]

    def _configured(self, override: Override) -> object:
        """What the configuration says of it, as far as it was changed live since the worker was started."""
        _, backend, _, name = object_names.parsed(override.object)
        table = self._editor.resources
        for kind in HOLDERS:
            with suppress(Missing, NoParent):
                server = self._editor.get_object(self._engine.document, table["servers"], (table[kind], backend), name)
                state = MAINTENANCE if server.get("maintenance") == "enabled" else READY
                return state if override.member == STATE else server.get(override.member)
        return None

    def record(self, before: ServerState, after: ServerState | None, members: Collection[str] = MEMBERS) -> None:
        """A change of these members that was made in the worker in service; `after` is None for a server that was deleted."""
        object_ = _object(before)
        if after is None:
            self._ledger.forget(self._ledger.of(object_))
            return
        was, now = _values(before), _values(after)
        for member in [each for each in MEMBERS if each in members and was[each] != now[each]]:
            known = self._ledger.get(object_, member)
            former = known.former if known else was[member]
            self._ledger.keep(Override(object_, member, now[member], former, time.time(), author.get().name))

    async def delete(self, object_: str) -> None:
        """The server is again as it was before. Raises NotFound and RuntimeFailure."""
        known = self._ledger.of(object_)
        if not known:
            raise NotFound(f"nothing of {object_} is kept; what others have set ends with the worker")

        async def apply() -> None:
            if state := await self._state(object_):
                await self._send(state, {each.member: each.former for each in known})
            self._ledger.forget(known)

        await change_process(self._engine.context, object_, apply)

    # -- new workers and other texts

    def _heard(self, event: Event) -> None:
        if isinstance(event, Reloaded):
            self._changed.set()
        elif self._ledger.all() and isinstance(event, Committed | Edited):
            self._texts.append(event)
            self._changed.set()

    async def _watch(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._changed.wait()
            self._changed.clear()
            try:
                await self.look()
            except RuntimeFailure as error:
                log.warning("what was changed in the process is not made again yet: %s", error)

    async def look(self) -> None:
        """Ends what other texts have ended, and makes what is left again where a new worker, or a changed server, lacks it."""
        texts, self._texts = self._texts, []
        touched = [effect for event in texts for effect in self._effects(event)]
        self._ledger.forget(ended(self._ledger.all(), touched))
        known = self._engine.context.state_file.value
        is_new = known.pid and _identity(Worker(known.pid, known.started)) != self._ledger.worker
        if is_new:
            await self._make(self._ledger.all(), in_new=True)
        elif touched:
            objects = {effect.object for effect in touched}
            await self._make([each for each in self._ledger.all() if each.object in objects])

    def _effects(self, event: Committed | Edited) -> Iterable[Effect]:
        return event.effects if isinstance(event, Committed) else effects(self._editor, *event.texts)

    async def _make(self, wanted: Iterable[Override], *, in_new: bool = False) -> None:
        context = self._engine.context
        async with context.process_lock:
            worker = await context.runtime.worker()
            for object_ in dict.fromkeys(each.object for each in wanted):
                known = self._ledger.of(object_)
                state = await self._state(object_)
                if state is None:
                    log.info("%s is gone, and with it what was changed of it in the process", object_)
                    self._ledger.forget(known)
                    continue
                try:
                    await self._send(state, {each.member: each.value for each in known})
                except RuntimeRefused as error:
                    log.warning("%s: what was changed in the process cannot be made again: %s", object_, error)
            if in_new and await context.runtime.worker() == worker:
                self._ledger.is_applied(_identity(worker))

    async def _send(self, now: ServerState, wanted: dict[str, object]) -> None:
        """What differs, as one change. Raises RuntimeRefused."""
        await commands.apply(self._engine.runtime, list(_commands(now, wanted)))

    async def _state(self, object_: str) -> ServerState | None:
        """None where the worker in service has no such server."""
        _, backend, _, name = object_names.parsed(object_)
        with suppress(RuntimeRefused):
            return next((each for each in await self._engine.runtime.servers(backend) if each.name == name), None)
        return None


def _commands(now: ServerState, wanted: dict[str, object]) -> Iterable[Command]:
    backend, name, is_now = now.backend_name, now.name, _values(now)
    changed = {member: value for member, value in wanted.items() if value != is_now[member]}
    if STATE in changed:
        yield commands.state(backend, name, str(changed[STATE]))
    if WEIGHT in changed:
        yield commands.weight(backend, name, int(str(changed[WEIGHT])))
    if ADDRESS in changed or PORT in changed:
        yield commands.address(backend, name, str(wanted.get(ADDRESS, now.address)), int(str(wanted.get(PORT, now.port))) or None)


def _object(state: ServerState) -> str:
    return object_names.spelled("backend", state.backend_name, "server", state.name)


def _values(state: ServerState) -> dict[str, object]:
    return {STATE: state.forced_state, WEIGHT: state.uweight, ADDRESS: state.address, PORT: state.port}


def _differing(state: ServerState) -> Iterable[Override]:
    """From what the worker began with, as HAProxy itself tells: the first weight, and whether the server was to begin in maintenance."""
    first = MAINTENANCE if state.admin & CONFIGURED_MAINT else READY
    for member, value, former in ((STATE, state.forced_state, first), (WEIGHT, state.uweight, state.iweight)):
        if value != former:
            yield Override(_object(state), member, value, former, 0.0)


def _identity(worker: Worker) -> str:
    return f"{worker.pid}@{worker.started}"
