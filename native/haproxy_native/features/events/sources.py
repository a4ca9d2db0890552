"""Publish the events of one engine, and report the current state to subscribers that have missed events.

`EventSources` runs three sources: `Changes` for commits, edits by others and reloads, `ServerWatch` for states of servers, and
`StatisticsWatch` for counters. `Changes` publishes in the order in which the commit context reports changes. It computes their effects in
its own task, so the response to a change is not delayed. Secrets are masked.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from haproxy_native.background import Background
from haproxy_native.commit.after_reload import lost_edits
from haproxy_native.commit.change import Change, Content, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.events import Announced, Committed, Edited, Event, Reloaded, WorkerChanged
from haproxy_native.editing import state_ring
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.secrets import masked_message, masked_object
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, RuntimeFailure
from haproxy_native.features.events.servers import ServerWatch
from haproxy_native.features.events.statistics import StatisticsWatch
from haproxy_native.features.events.stream import (
    CERTIFICATE,
    CONFIG,
    RELOAD,
    SERVER,
    STATS,
    STORAGE,
    WHOLE,
    WORKER,
    EventFilter,
    EventStream,
)
from haproxy_native.planning.effects import Effect
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.threads import run_in_thread_if_large

log = logging.getLogger(__name__)
# The kinds of stored files whose events have the type `certificate`.
CERTIFICATES = ("certificate", "crt_list", "ca_file", "crl_file")
# The event type of a change, by the kind of its object; STORAGE for other kinds. A change of the process names a `backend` object if it
# changed servers, whose states `ServerWatch` publishes.
_TYPES = {**dict.fromkeys(CERTIFICATES, CERTIFICATE), "backend": SERVER}
# The most objects that an event of a commit names, and the most changed members that it shows.
MOST_OBJECTS, MOST_EFFECTS = 1_000, 100


@dataclass(frozen=True)
class Changes:
    """Publishes commits, edits by others and reloads. `on_event` queues them, and `run` publishes them."""

    stream: EventStream
    editor: Editor
    context: CommitContext
    received: "asyncio.Queue[Committed | Edited | Reloaded]"

    @classmethod
    def of(cls, stream: EventStream, editor: Editor, context: CommitContext) -> "Changes":
        return cls(stream, editor, context, asyncio.Queue())

    def on_event(self, event: Event) -> None:
        """Queue an event of the commit context. Announced events, which are complete already, are published at once."""
        if isinstance(event, Announced):
            self.stream.publish(event.type, event.object, event.data)
        if isinstance(event, Edited | Reloaded) or (isinstance(event, Committed) and event.result):
            self.received.put_nowait(event)

    async def run(self) -> None:
        """Publish the queued events until cancelled."""
        while True:
            event = await self.received.get()
            try:
                await self._publish(event)
            except NativeError as error:
                log.warning("publishing a change failed: %s", error)

    async def _publish(self, event: Committed | Edited | Reloaded) -> None:
        match event:
            case Reloaded():
                self._reloaded(event)
            case Edited():
                await self._edited(event)
            case Committed(change=change, result=result) if change and result:
                await self._committed(event, change, result)

    def _reloaded(self, event: Reloaded) -> None:
        shown: dict[str, Any] = {
            "id": event.id,
            "status": event.outcome,
            "seconds": round(event.seconds, 3),
            "keywords": list(event.keywords),
        }
        with suppress(NativeError):
            record = self.context.reloads.records.get(event.id)
            shown |= {"version": record.version, "response": masked_message(record.response or record.error or "")}
            shown |= {"changes": list(record.changes) or None, "rest_reload_id": record.rest_reload_id, "notes": lost_edits(record) or None}
        self.stream.publish(RELOAD, f"reload/{event.id}", without_empty(shown))

    async def _edited(self, event: Edited) -> None:
        if event.path != self.context.current.path:
            self.stream.publish(STORAGE, f"spoe/{event.path.name}", {"outcome": OUTSIDE, "owner": event.owner})
            return
        effects = await run_in_thread_if_large(event.texts, lambda: event.effects)
        await self._configuration(effects, {"version": event.versions[1], "outcome": OUTSIDE, "owner": event.owner})

    async def _committed(self, event: Committed, change: Change, result: Outcome) -> None:
        about = {"outcome": event.outcome, "reload_id": result.reload_id, **author_members(change.author)}
        if result.texts:
            effects = await run_in_thread_if_large(result.texts, lambda: event.effects)
            await self._configuration(effects, {"version": result.version, **about})
        for content in result.contents:
            if content.object:
                self.stream.publish(type_of(content.object), content.object, without_empty({"change": file_change(content), **about}))
        if change.sole_operation and type_of(change.object) != SERVER and not result.texts and not result.contents:
            self.stream.publish(type_of(change.object), change.object, without_empty({"change": "changed", **about}))

    async def _configuration(self, effects_of_change: Iterable[Effect], about: Mapping[str, Any]) -> None:
        """Publish a change of the configuration with its effects. `about` has the other members of the event."""
        rows = list(effects_of_change)
        objects = list(dict.fromkeys(row.object for row in rows))
        shown = [without_empty(effect) for effect in masked_object([effect.as_dict() for effect in rows[:MOST_EFFECTS]], "effect")]
        data = {**about, "objects": objects[:MOST_OBJECTS], "effects": shown}
        if len(rows) > MOST_EFFECTS or len(objects) > MOST_OBJECTS:
            data["shortened"] = True
        self.stream.publish(CONFIG, objects[0] if len(objects) == 1 else WHOLE, without_empty(data), [WHOLE, *objects])


def type_of(object_: str) -> str:
    """Return the event type for a change of a stored file or of the process."""
    return _TYPES.get(object_.partition("/")[0], STORAGE)


def file_change(content: Content) -> str:
    """Return what happened to a stored file: it was created, changed or deleted."""
    if content.before is None and content.is_kept:
        return "created"
    return "deleted" if content.after is None and content.is_kept else "changed"


def author_members(author: Author) -> dict[str, Any]:
    """Return the members of an event that describe the author of a change."""
    return {"author": author.name, "address": author.address, "request_id": author.request_id, "message": author.message}


def without_empty(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are neither None nor empty texts."""
    return {name: value for name, value in shown.items() if value not in (None, "")}


class EventSources:
    """The sources of one engine, which publish to `stream` while the context is active."""

    def __init__(self, engine: Engine, editor: Editor) -> None:
        self.stream = EventStream()
        self._engine = engine
        self._servers, self._statistics = ServerWatch(engine, self.stream), StatisticsWatch(engine, self.stream)
        self.history = self._statistics.history
        self._changes = Changes.of(self.stream, editor, engine.context)
        self._background = Background("publishing events")

    async def __aenter__(self) -> Self:
        self._engine.context.events.listen(self._changes.on_event)
        self._engine.context.events.listen(self._servers.on_event)
        self._engine.context.events.listen(self._worker_changed)
        for source in (self._changes, self._servers, self._statistics):
            self._background.begin(source.run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stream.close()
        await self._background.stop()

    def _worker_changed(self, event: Event) -> None:
        if isinstance(event, WorkerChanged):
            self._servers.worker_changed()
            self.history.restart()
            if now := event.worker:
                former = {"former": event.former.pid} if event.former else {}
                self.stream.publish(WORKER, f"worker/{now.pid}", {"pid": now.pid} | former)

    async def current_state(self, wanted: EventFilter, *, zeros: bool = True) -> dict[str, Any]:
        """Return the present state of everything that a filter matches. If HAProxy does not answer, servers and counters are missing.

        With `zeros=False`, counters that are 0 are left out.
        """
        context = self._engine.context
        state: dict[str, Any] = {}
        if CONFIG in wanted.types:
            state["version"] = self._engine.version()
        if RELOAD in wanted.types:
            state["reload_pending"] = context.pending
        if WORKER in wanted.types:
            state["worker"] = (worker := context.running.worker) and worker.pid
        with suppress(RuntimeFailure):
            if SERVER in wanted.types:
                state["servers"] = [row for row in await self._servers.now() if wanted.is_about([row["object"]])]
            if STATS in wanted.types:
                counted = await self._statistics.now(wanted.counters, zeros=zeros)
                state[STATS] = [row for row in counted if wanted.is_about([row["object"]])]
        return state

    @property
    def lines_to_add(self) -> dict[str, str]:
        """Return the lines, by section, that make HAProxy report the states of all servers to a ring; empty if it already does."""
        return state_ring.lines_to_add(self._engine.document)
