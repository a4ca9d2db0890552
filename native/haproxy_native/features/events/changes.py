"""Events of commits, edits by others and reloads, from what the commit context reports (native/haproxy_native/commit/events.py).

They are published in the order in which they were reported; what a change has done is computed beside the event loop, never before it
is answered. Secrets are masked.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from haproxy_native.beside import beside
from haproxy_native.commit.after_reload import lost_edits
from haproxy_native.commit.change import Change, Content, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.events import Announced, Committed, Edited, Event, Reloaded
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.secrets import masked_message, masked_object
from haproxy_native.errors import NativeError
from haproxy_native.features.events.stream import CERTIFICATE, CONFIG, RELOAD, SERVER, STORAGE, WHOLE, EventStream
from haproxy_native.planning.effects import Effect
from haproxy_native.request_context import OUTSIDE, Author

log = logging.getLogger(__name__)
# Kinds of stored files that hold certificates, or name them; those of the process alone have the same names.
CERTIFICATES = ("certificate", "crt_list", "ca_file", "crl_file")
# What is changed in a backend of the process are servers, whose states ServerWatch publishes.
_TYPES = {**dict.fromkeys(CERTIFICATES, CERTIFICATE), "backend": SERVER}
# An event of a change names so many objects, and shows so many of the members that it touched.
MOST_OBJECTS, MOST_EFFECTS = 1_000, 100


@dataclass(frozen=True)
class Changes:
    """Publishes what `heard` is called with, while `run` runs."""

    stream: EventStream
    editor: Editor
    context: CommitContext
    heard_events: "asyncio.Queue[Committed | Edited | Reloaded]"

    @classmethod
    def of(cls, stream: EventStream, editor: Editor, context: CommitContext) -> "Changes":
        return cls(stream, editor, context, asyncio.Queue())

    def heard(self, event: Event) -> None:
        if isinstance(event, Announced):
            self.stream.publish(event.type, event.object, event.data)
        if isinstance(event, Edited | Reloaded) or (isinstance(event, Committed) and event.result):
            self.heard_events.put_nowait(event)

    async def run(self) -> None:
        """Publishes changes until it is cancelled."""
        while True:
            event = await self.heard_events.get()
            try:
                await self._publish(event)
            except NativeError as error:
                log.warning("an event of a change was not published: %s", error)

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
        self.stream.publish(RELOAD, f"reload/{event.id}", present(shown))

    async def _edited(self, event: Edited) -> None:
        if event.path != self.context.current.path:
            self.stream.publish(STORAGE, f"spoe/{event.path.name}", {"outcome": OUTSIDE, "owner": event.owner})
            return
        await self._configuration(
            await beside(lambda: event.effects), {"version": event.versions[1], "outcome": OUTSIDE, "owner": event.owner}
        )

    async def _committed(self, event: Committed, change: Change, result: Outcome) -> None:
        about = {"outcome": event.outcome, "reload_id": result.reload_id, **by(change.author)}
        if result.texts:
            await self._configuration(await beside(lambda: event.effects), {"version": result.version, **about})
        for content in result.contents:
            if content.object:
                self.stream.publish(type_of(content.object), content.object, present({"change": what_became(content), **about}))
        if change.sole_operation and type_of(change.object) != SERVER and not result.texts and not result.contents:
            self.stream.publish(type_of(change.object), change.object, present({"change": "changed", **about}))

    async def _configuration(self, effects_of_change: Iterable[Effect], about: Mapping[str, Any]) -> None:
        rows = list(effects_of_change)
        objects = list(dict.fromkeys(row.object for row in rows))
        shown = [present(effect) for effect in masked_object([effect.as_dict() for effect in rows[:MOST_EFFECTS]], "effect")]
        data = {**about, "objects": objects[:MOST_OBJECTS], "effects": shown}
        if len(rows) > MOST_EFFECTS or len(objects) > MOST_OBJECTS:
            data["shortened"] = True
        self.stream.publish(CONFIG, objects[0] if len(objects) == 1 else WHOLE, present(data), [WHOLE, *objects])


def type_of(object_: str) -> str:
    return _TYPES.get(object_.partition("/")[0], STORAGE)


def what_became(content: Content) -> str:
    if content.before is None and content.is_kept:
        return "created"
    return "deleted" if content.after is None and content.is_kept else "changed"


def by(author: Author) -> dict[str, Any]:
    return {"author": author.name, "address": author.address, "request_id": author.request_id, "message": author.message}


def present(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if value not in (None, "")}
