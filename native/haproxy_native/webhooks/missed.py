"""Changes that the history has and no queue: a kill, or a stop, came between their entry and the write of their event.

An event is found again by what it shares with the entry: the version of the configuration, or request and object of a stored file.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from haproxy_native.editing.secrets import Mask
from haproxy_native.errors import NotFound
from haproxy_native.event_stream import changes
from haproxy_native.event_stream.past import StreamEvent
from haproxy_native.event_stream.stream import CERTIFICATE, CONFIG, STORAGE, WHOLE
from haproxy_native.history.entries import CONFIGURATION, FILE, Entry
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.request_context import OUTSIDE

# The types of events that are found again.
FOUND = frozenset((CONFIG, CERTIFICATE, STORAGE))
PREFIX = "entry-"


def key(event: StreamEvent) -> str:
    """What names it among the entries of the history; empty where nothing does."""
    if event.type not in FOUND:
        return ""
    shown = json.loads(event.body)
    if str(shown["id"]).startswith(PREFIX):
        return str(shown["id"])
    data = shown["data"]
    return _key(data.get("version"), data.get("request_id", ""), event.objects[0])


def _key(version: int | None, request_id: str, object_: str) -> str:
    return f"version {version}" if version is not None else f"{request_id} {object_}" if request_id else ""


async def missed(history: History, seen: Collection[str], since: float, until: float) -> list[StreamEvent]:
    """The events of what was entered in that time, the oldest first, but for keys that were seen. Raises Unusable.

    Edits that others made before the start count whenever they were entered: no event is published of them.
    """
    await history.catch_up()
    await history.settled()
    mask = await history.mask()

    def look(journal: Journal) -> list[StreamEvent]:
        entries = list(takewhile(lambda entry: entry.time >= since, journal.find()))
        missed_entries = [entry for entry in reversed(entries) if entry.time < until or _is_from_before(journal, entry)]
        return [
            event for entry in missed_entries for event in _events(journal, mask, entry, seen) if json.loads(event.body)["id"] not in seen
        ]

    return await history.ask(look)


def _is_from_before(journal: Journal, entry: Entry) -> bool:
    """Whether an edit was made while no server ran, which could have given it a version."""
    with suppress(NotFound):
        return entry.outcome == OUTSIDE and entry.parent is not None and journal.get(entry.parent).version == entry.version
    return False


def _events(journal: Journal, mask: Mask, entry: Entry, seen: Collection[str]) -> Iterator[StreamEvent]:
    about = {"outcome": entry.outcome, "owner": entry.owner, "reload_id": entry.reload_id, **changes.by(entry.author)}
    if entry.kind == CONFIGURATION and (_key(entry.version, "", "") not in seen or _is_from_before(journal, entry)):
        rows = journal.effects(entry.id) or []
        objects = list(dict.fromkeys(row["object"] for row in rows))
        name, data = changes.configuration(objects, rows, {"version": entry.version, **about}, mask)
        yield _event(entry, CONFIG, name, data, [WHOLE, *objects])
    if entry.kind == FILE and entry.author.request_id:
        for content in journal.contents(entry.id):
            if content.object and _key(None, entry.author.request_id, content.object) not in seen:
                data = changes.present({"change": changes.what_became(content), **about})
                yield _event(entry, changes.type_of(content.object), content.object, data, [content.object])


def _event(entry: Entry, type_: str, object_: str, data: Mapping[str, Any], objects: Sequence[str]) -> StreamEvent:
    """Its id is that of the entry, so that it is the same one however often it is found."""
    when = datetime.fromtimestamp(entry.time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    named = f"{PREFIX}{entry.id}" + (f"-{object_}" if entry.kind == FILE else "")
    body = json.dumps({"id": named, "time": when, "type": type_, "object": object_, "data": data}, ensure_ascii=False)
    return StreamEvent(0, type_, objects, body.encode("utf-8", "backslashreplace"))
