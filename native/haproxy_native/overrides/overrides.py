"""Changes of servers in the process alone: recorded as they are made, made again in each new worker, and taken back."""

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from haproxy_native.background import Background
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Committed, Edited, Event, Reloaded
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing, NoParent, NotFound, RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.overrides.ledger import ADDRESS, MEMBERS, PORT, STATE, WEIGHT, Override, OverrideLedger, ended
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.request_context import author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.responses import refusal
from haproxy_native.runtime.server_state import CONFIGURED_MAINT, ServerState, server_states

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.5
# In every refusal of a server or backend that the worker has not.
NO_SUCH = "No such"
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
        engine.context.on_worker = self.renew

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
        if known.pid and _identity(Worker(known.pid, known.started)) != self._ledger.worker:
            async with self._engine.context.process_lock:
                await self.renew()
        elif touched:
            objects = {effect.object for effect in touched}
            async with self._engine.context.process_lock:
                await self._make([each for each in self._ledger.all() if each.object in objects])

    async def renew(self) -> None:
        """Makes all of them again in the worker in service, where it is another than before. The caller holds the lock of the process."""
        runtime = self._engine.runtime
        await self._make(self._ledger.all())
        worker = await runtime.worker()
        if _identity(worker) == self._ledger.worker:
            return
        # The first commands may have gone to the worker before.
        await self._make(self._ledger.all())
        if await runtime.worker() == worker:
            self._ledger.is_applied(_identity(worker))

    def _effects(self, event: Committed | Edited) -> Iterable[Effect]:
        return event.effects if isinstance(event, Committed) else effects(self._editor, *event.texts)

    async def _make(self, wanted: Sequence[Override]) -> None:
        """All at once, whatever is set already. What is of a server that is gone is forgotten. The caller holds the lock."""
        made = [(each, command.text) for each in wanted if (command := await self._command(each))]
        for (override, _), answer in zip(made, await self._answers([text for _, text in made]), strict=True):
            if (refused := refusal(answer)) is None:
                continue
            log.warning("%s: %s cannot be set to %s again: %s", override.object, override.member, override.value, refused)
            if NO_SUCH in refused:
                self._ledger.forget([override])

    async def _answers(self, texts: Sequence[str]) -> list[str]:
        runtime = self._engine.runtime
        if not texts:
            return []
        try:
            return await runtime.each(texts)
        except RuntimeAbsent:
            # 2.6 does not end every refusal, so that answers to many commands cannot be told apart.
            return [await runtime.send(text) for text in texts]

    async def _command(self, override: Override) -> Command | None:
        """None for an address whose server is gone."""
        _, backend, _, name = object_names.parsed(override.object)
        if override.member == STATE:
            return commands.state(backend, name, override.value)
        if override.member == WEIGHT:
            return commands.weight(backend, name, override.value)
        if state := await self._state(override.object):
            return next(iter(_commands(state, {override.member: override.value})), None)
        self._ledger.forget([override])
        return None

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
