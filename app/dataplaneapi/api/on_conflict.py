"""What becomes of a write on an old version: it is refused, or merged into what came between (`on_conflict`)."""

from collections.abc import Iterator, Sequence
from typing import Any

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import present, timestamp
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import IF_MATCH, Handler
from dataplaneapi.api.responses import Response
from haproxy_native.beside import beside
from haproxy_native.errors import Clash, Collided, Diverged, Unusable
from haproxy_native.history.entries import CONFIGURATION, Entry
from haproxy_native.history.journal import Journal

PARAMETER, MERGE = "on_conflict", "merge"


def merges(call: Call) -> bool:
    """Whether this write is to be merged. Raises ApiError where it has no choice."""
    asked = call.values.get(PARAMETER)
    if asked and call.query.transaction_id:
        raise ApiError(400, f"{PARAMETER} belongs to the commit of a transaction: send it with the PUT that commits it")
    if asked == MERGE and IF_MATCH in call.values:
        raise ApiError(400, f"{IF_MATCH} asks for a refusal where {PARAMETER}=merge asks for none: send one of the two")
    return (asked or call.services.settings.on_conflict) == MERGE and IF_MATCH not in call.values


async def explain_collisions(call: Call, next: Handler) -> Response:
    """Show in a refusal what collides, and with whom."""
    try:
        return await next(call)
    except Collided as error:
        raise await _shown(call, error) from None


async def _shown(call: Call, error: Collided) -> ApiError:
    conflicts = await conflicts_of(call, error)
    if isinstance(error, Diverged):
        entry = next((each for each in conflicts if "entry" in each), None)
        by = f"; changed last by {entry['author']}, in entry {entry['entry']}" if entry else ""
        return ApiError(409, f"{error}{by}", conflicts=conflicts)
    by = f", by {conflicts[0]['author']}" if "author" in conflicts[0] else ""
    current = call.services.engine.version()
    return ApiError(
        409,
        f"{error}{by}; nothing was changed. Read again what collides, and send it with ?version={current}",
        conflicts=conflicts,
    )


async def conflicts_of(call: Call, error: Collided) -> list[dict[str, Any]]:
    """Both sides of each, and who has changed it last; without the value of what the caller may not read."""
    may_read = reader(call.author)
    try:
        await call.services.history.settled()
        entries = await call.services.history.ask(_authors, error)
    except Unusable:
        entries = {}
    return [_as_dict(clash, entries.get(clash.object), may_read is None or may_read(clash.object)) for clash in error.clashes]


def _authors(journal: Journal, error: Collided) -> dict[str, Entry]:
    """The newest entry for each object since the version that the change was made on."""
    entries = {}
    for object_ in dict.fromkeys(clash.object for clash in error.clashes):
        if entry := next(_since(journal, object_, error.version), None):
            entries[object_] = entry
    return entries


async def last_changes(call: Call, objects: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Who has changed each object last, as far as the history knows."""

    def newest(journal: Journal) -> dict[str, Entry]:
        entries = ((object_, next(iter(journal.find(object_)), None)) for object_ in dict.fromkeys(objects))
        return {object_: entry for object_, entry in entries if entry}

    try:
        await call.services.history.settled()
        entries = await call.services.history.ask(newest)
        return await beside(lambda: {object_: _by(entry) for object_, entry in entries.items()})
    except Unusable:
        return {}


def _since(journal: Journal, object_: str, version: int) -> Iterator[Entry]:
    return (entry for entry in journal.find(object_) if entry.kind == CONFIGURATION and entry.version > version)


def _as_dict(clash: Clash, entry: Entry | None, is_readable: bool) -> dict[str, Any]:
    by = _by(entry) if entry else {}
    theirs = clash.theirs if is_readable else None
    # A mask goes by the member that such a pair has.
    return present({"object": clash.object, "member": clash.member, "theirs": theirs, "mine": clash.mine, **by})


def _by(entry: Entry) -> dict[str, Any]:
    return {"author": entry.author.name, "entry": str(entry.id), "version": entry.version, "time": timestamp(entry.time)}
