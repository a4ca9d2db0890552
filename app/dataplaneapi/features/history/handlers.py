"""The operations on the history: entries, differences, blame, revert and restore."""

from collections.abc import Callable
from itertools import islice
from typing import Any

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import moment, page, timestamp, without_unset
from dataplaneapi.api.responses import TEXT, Response, json_response, reload_headers
from haproxy_native.access.rights import ALL, READ, Rights
from haproxy_native.commit.change import Content
from haproxy_native.editing.secrets import masked_object
from haproxy_native.history import reading, summaries
from haproxy_native.history.entries import RUNTIME, Entry, Refusal, ReloadOutcome
from haproxy_native.history.journal import Journal
from haproxy_native.history.reverting import Reverted
from haproxy_native.planning.touches import changed
from haproxy_native.reload.records import SUCCEEDED, TAKEN_BACK
from haproxy_native.threads import run_in_thread

# The most entries that a response has.
MOST = 1_000
MayRead = Callable[[str], bool]
SCHEDULED, WRITTEN = "scheduled", "written"


async def read_list(call: ReadCall) -> Response:
    history, author, before = call.services.history, call.query.author, call.query.before
    if call.query.refused:
        refusals = await history.ask(lambda journal: [refusal for refusal in journal.refusals() if author in ("", refusal.author.name)])
        return page(call, [_refusal_as_dict(refusal) for refusal in refusals])
    limit, since, until = min(call.query.limit or MOST, MOST), moment(call, "since"), moment(call, "until")

    may_read = reader(call.author)

    def find(journal: Journal) -> list[dict[str, Any]]:
        found = journal.find(call.query.object, author, since, until, int(before) if before else None)
        return [_entry_as_dict(journal, entry, may_read) for entry in islice(found, limit + 1)]

    await history.settled()
    return page(call, await history.ask(find))


async def read(call: ReadCall) -> Response:
    history, id_, may_read = call.services.history, int(call.path.id), reader(call.author)

    def find(journal: Journal) -> tuple[dict[str, Any], list[Any], list[Content]]:
        shown = _entry_as_dict(journal, journal.get(id_), may_read)
        return shown, [*(journal.effects(id_) or []), *map(vars, journal.members(id_))], journal.contents(id_)

    await history.settled()
    shown, effects, contents = await history.ask(find)
    shown["effects"] = await run_in_thread(lambda: [without_unset(effect) for effect in masked_object(effects, "effect")])
    return json_response(200, shown | {"diff": await reading.differences(contents)})


async def read_diff(call: ReadCall) -> Response:
    start = int(call.query.from_) if call.query.from_ else None
    services = call.services
    text = await reading.difference_between(services.history, start, int(call.path.id), call.query.object)
    return _text_response(text)


async def read_raw(call: ReadCall) -> Response:
    return _text_response(await reading.text_at(call.services.history, int(call.path.id)))


async def revert(call: JsonCall) -> Response:
    await _require_known(call)
    return await _reverted_response(call, await call.services.reverter.revert(int(call.path.id), call.author))


async def restore(call: JsonCall) -> Response:
    return await _reverted_response(call, await call.services.reverter.restore(int(call.path.id), call.author))


async def _require_known(call: Call) -> None:
    """Raise Forbidden if no rule of the caller covers an object of the entry, because later errors might reveal the entry's content."""
    rights, history = call.author.rights, call.services.history
    if isinstance(rights, Rights) and not rights.may(READ, ALL):
        await history.settled()
        touched = await history.ask(lambda journal: journal.objects(journal.get(int(call.path.id)).id))
        rights.permit([changed(name, ()) for name in touched if not rights.knows(name)])


async def read_blame(call: ReadCall) -> Response:
    services, rows = call.services, list[dict[str, Any]]()
    for line in await reading.blamed(services.history, call.query.object):
        row: dict[str, Any] = {"line": line.number, "text": line.text}
        if entry := line.entry:
            row |= {"entry": str(entry.id), "time": timestamp(entry.time), "author": entry.author.name, "message": entry.author.message}
        rows.append(without_unset(row))
    return json_response(200, rows)


async def _reverted_response(call: Call, reverted: Reverted) -> Response:
    """Return the response to a revert or a restore. If a commit was made, the response has the history entry of the last commit."""
    shown: dict[str, Any] = {"version": call.services.engine.version(), "changes": len(reverted.outcomes)}
    if reverted.outcomes:
        await call.services.history.settled()
        may_read = reader(call.author)
        shown["entry"] = await call.services.history.ask(lambda journal: _entry_as_dict(journal, journal.get(journal.last or 0), may_read))
    headers = reload_headers(reverted.reload_id)
    return json_response(202 if headers else 200, shown, headers)


def _text_response(text: str) -> Response:
    return Response(200, text.encode("utf-8", "surrogateescape"), TEXT)


def _entry_as_dict(journal: Journal, entry: Entry, may_read: MayRead | None) -> dict[str, Any]:
    """Return an entry as JSON. `may_read`: returns whether the caller may read an object; None if the caller may read all objects."""
    author, reload = entry.author, journal.outcome_of(entry)
    # The reload that was to load the entry, and what became of this entry.
    reload_as_dict = reload and without_unset(
        {"id": reload.id, "status": reload.status, "time": timestamp(reload.time), "outcome": reload.changes.get(entry.id)}
    )
    return without_unset(
        {
            "id": str(entry.id),
            "parent": entry.parent and str(entry.parent),
            "time": timestamp(entry.time),
            "version": entry.version,
            "kind": entry.kind,
            "outcome": _current_outcome(entry, reload),
            "summary": _readable_summary(journal, entry, may_read),
            "reload_id": entry.reload_id,
            "reload": reload_as_dict,
            "author": author.name,
            "owner": entry.owner,
            "address": author.address,
            "request_id": author.request_id,
            "message": author.message,
            "cause": author.cause,
            "objects": journal.objects(entry.id),
        }
    )


def _readable_summary(journal: Journal, entry: Entry, may_read: MayRead | None) -> str:
    """Return a summary of those changes of an entry that the caller may read."""
    if may_read is None and (stored := journal.summary(entry.id)):
        return stored
    may_show = may_read or (lambda object_: True)
    effects = [*(journal.effects(entry.id) or []), *map(vars, journal.members(entry.id))]
    readable = [effect for effect in effects if may_show(effect["object"])]
    files = {object_: text for object_, text in journal.files(entry.id).items() if may_show(object_)}
    process = [object_ for object_ in journal.objects(entry.id) if may_show(object_)] if entry.kind == RUNTIME else []
    return summaries.summary(masked_object(readable, "effect"), files, process)


def _current_outcome(entry: Entry, reload: ReloadOutcome | None) -> str:
    """Return the current outcome of a change. If the change needs a reload, its outcome depends on `reload`.

    `scheduled`: the reload is scheduled, in progress, or repeated after a failure. `written`: the files have the change, but HAProxy has
    not loaded them.
    """
    if entry.outcome not in (SCHEDULED, WRITTEN) or reload is None:
        return entry.outcome
    if reload.status == SUCCEEDED:
        return "reloaded"
    return TAKEN_BACK if reload.changes.get(entry.id) == TAKEN_BACK else entry.outcome


def _refusal_as_dict(refusal: Refusal) -> dict[str, Any]:
    author = refusal.author
    return without_unset(
        {
            "id": str(refusal.id),
            "time": timestamp(refusal.time),
            "outcome": "refused",
            "reason": refusal.reason,
            "author": author.name,
            "address": author.address,
            "request_id": author.request_id,
            "message": author.message,
            "objects": [refusal.object] if refusal.object else [],
        }
    )


async def check_revert(call: Call) -> bool:
    await _require_known(call)
    return await call.services.reverter.check_revert(int(call.path.id), call.author)


async def check_restore(call: Call) -> bool:
    return await call.services.reverter.check_restore(int(call.path.id), call.author)


CHECKS = {"revert": check_revert, "restore": check_restore}
