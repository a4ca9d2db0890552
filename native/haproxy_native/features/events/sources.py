"""Publish the events of one engine, and report the current state to subscribers that have missed events.

`EventSources` runs three sources: `Changes` for commits, edits by others and reloads, `ServerWatch` for states of servers, and
`StatisticsWatch` for counters. `Changes` publishes changes in the order in which the commit context reports them. Their effects are
computed in a separate task, so the response to a change is not delayed. Secrets are masked.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from haproxy_native.background import Background
from haproxy_native.commit.after_reload import lost_edits
from haproxy_native.commit.change import Content
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
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread_if_large

log = logging.getLogger(__name__)
# The kinds of stored files whose events have the type `certificate`.
CERTIFICATES = ("certificate", "crt_list", "ca_file", "crl_file")
# The event type of a change, by the kind of its object; STORAGE for other kinds. A change of the process names a `backend` object if it
# changed servers, whose states `ServerWatch` publishes.
_TYPES = {**dict.fromkeys(CERTIFICATES, CERTIFICATE), "backend": SERVER}
# The most objects that an event of a commit names, and the most changed members that it shows.
MOST_OBJECTS, MOST_EFFECTS = 1_000, 100


class Changes:
    """Publishes commits, edits by others and reloads. `on_event` queues them, and `run` publishes them."""

    def __init__(self, stream: EventStream, editor: Editor, context: CommitContext) -> None:
        self.stream, self.editor, self.context = stream, editor, context
        self.received = asyncio.Queue[Committed | Edited | Reloaded]()

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
                if isinstance(event, Reloaded):
                    self._publish_reload(event)
                elif isinstance(event, Committed):
                    await self._publish_commit(event)
                elif event.path == self.context.current.path:
                    members = {"version": event.versions[1], "outcome": OUTSIDE, "owner": event.owner}
                    await self._publish_configuration(event, event.texts, members)
                else:
                    self.stream.publish(STORAGE, f"spoe/{event.path.name}", {"outcome": OUTSIDE, "owner": event.owner})
            except NativeError as error:
                log.warning("publishing a change failed: %s", error)

    def _publish_reload(self, event: Reloaded) -> None:
        data: dict[str, Any] = {
            "id": event.id,
            "status": event.outcome,
            "seconds": round(event.seconds, 3),
            "keywords": list(event.keywords),
        }
        with suppress(NativeError):
            record = self.context.reloads.records.get(event.id)
            data |= {"version": record.version, "response": masked_message(record.response or record.error or "")}
            data |= {"changes": list(record.changes) or None, "rest_reload_id": record.rest_reload_id, "notes": lost_edits(record) or None}
        self.stream.publish(RELOAD, f"reload/{event.id}", without_empty(data))

    async def _publish_commit(self, event: Committed) -> None:
        change, result = event.change, event.result
        if change is None or result is None:
            return
        members = {"outcome": event.outcome, "reload_id": result.reload_id, **author_members(change.author)}
        if result.texts:
            await self._publish_configuration(event, result.texts, {"version": result.version, **members})
        for content in result.contents:
            if content.object:
                self.stream.publish(type_of(content.object), content.object, without_empty({"change": file_change(content), **members}))
        if change.sole_operation and type_of(change.object) != SERVER and not result.texts and not result.contents:
            self.stream.publish(type_of(change.object), change.object, without_empty({"change": "changed", **members}))

    async def _publish_configuration(self, event: Committed | Edited, texts: Iterable[Document], members: Mapping[str, Any]) -> None:
        """Publish a change of the configuration with its effects. `members` are the other members of the published event."""
        rows = await run_in_thread_if_large(texts, lambda: event.effects)
        objects = list(dict.fromkeys(row.object for row in rows))
        shown = [without_empty(effect) for effect in masked_object([effect.as_dict() for effect in rows[:MOST_EFFECTS]], "effect")]
        data = {**members, "objects": objects[:MOST_OBJECTS], "effects": shown}
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
        self._changes = Changes(self.stream, editor, engine.context)
        self._background = Background("publishing events")

    async def __aenter__(self) -> Self:
        self._engine.context.events.listen(self._changes.on_event)
        self._engine.context.events.listen(self._servers.on_event)
        self._engine.context.events.listen(self.on_event)
        for source in (self._changes, self._servers, self._statistics):
            self._background.begin(source.run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stream.close()
        await self._background.stop()

    def on_event(self, event: Event) -> None:
        """Publish a change of the worker in service, and let the other sources begin again with the new worker."""
        if isinstance(event, WorkerChanged):
            self._servers.worker_changed()
            self.history.restart()
            if worker := event.worker:
                former = {"former": event.former.pid} if event.former else {}
                self.stream.publish(WORKER, f"worker/{worker.pid}", {"pid": worker.pid} | former)

    async def current_state(self, wanted: EventFilter, *, zeros: bool = True) -> dict[str, Any]:
        """Return the current state of everything that a filter matches. If HAProxy does not answer, servers and counters are missing.

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
                state["servers"] = [row for row in await self._servers.read_servers() if wanted.is_about([row["object"]])]
            if STATS in wanted.types:
                rows = await self._statistics.read_counters(wanted.counters, zeros=zeros)
                state[STATS] = [row for row in rows if wanted.is_about([row["object"]])]
        return state

    @property
    def lines_to_add(self) -> dict[str, str]:
        """Return the lines, by section, that make HAProxy report the states of all servers to a ring; empty if HAProxy already does so."""
        return state_ring.lines_to_add(self._engine.document)
