"""Detect conflicts with changes that other clients have made meanwhile: `on_conflict` and `If-Match`.

A write that names an old version is refused with 409. With `on_conflict=merge` the commit merges it into the current version instead.

`If-Match` (RFC 9110, section 13.1.1) makes a write conditional on the ETag of a GET. The server computes that ETag from the current object
before the change, and the commit checks that the object is still the same. If either check fails, the answer is 412.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from dataplaneapi.api.access import object_to_read, reader, visible_text
from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.etags import ANY, holds, tag_of
from dataplaneapi.api.operations import IF_MATCH, PATCH, Handler
from dataplaneapi.api.responses import JSON, Response, to_json
from haproxy_native.access.rights import READ, Rights
from haproxy_native.changes.expect import ANY as ANY_VERSION
from haproxy_native.changes.expect import Expect, ExpectedObject, Version, find_value
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.errors import Collided, Diverged, Unusable
from haproxy_native.history.entries import CONFIGURATION, Entry
from haproxy_native.history.journal import Journal
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

PARAMETER, MERGE = "on_conflict", "merge"


def merges(call: Call) -> bool:
    """Return whether a write that is based on an old version is merged into the current version.

    Raises ApiError (400) if the parameter `on_conflict` contradicts the rest of the call.
    """
    mode = call.values.get(PARAMETER)
    if mode and call.query.transaction_id:
        raise ApiError(400, f"{PARAMETER} belongs to the commit of a transaction: send it with the PUT that commits it")
    if mode == MERGE and IF_MATCH in call.values:
        raise ApiError(400, f"{IF_MATCH} and {PARAMETER}=merge exclude each other: send one of the two")
    return (mode or call.services.settings.on_conflict) == MERGE and IF_MATCH not in call.values


async def explain_collisions(call: Call, next: Handler) -> Response:
    """Pass on a write. If the write collides with another change, raise ApiError (409), which lists the collisions and their authors."""
    try:
        return await next(call)
    except Collided as error:
        conflicts = await conflicts_of(call, error)
        if isinstance(error, Diverged):
            last = [row for row in conflicts if "entry" in row][:1]
            by = f"; changed last by {last[0]['author']}, in entry {last[0]['entry']}" if last else ""
            raise ApiError(409, f"{error}{by}", conflicts=conflicts) from None
        by = f", by {conflicts[0]['author']}" if "author" in conflicts[0] else ""
        current = call.services.engine.version()
        remedy = f"nothing was changed. Read the objects in conflict again, and send the change with ?version={current}"
        raise ApiError(409, f"{error}{by}; {remedy}", conflicts=conflicts) from None


async def conflicts_of(call: Call, error: Collided) -> list[dict[str, Any]]:
    """Return a row for each collision, with both values and the author of the last change. Omit values that the caller may not read."""

    def is_later(entry: Entry) -> bool:
        return entry.kind == CONFIGURATION and entry.version > error.version

    last, may_read = await last_changes(call, [clash.object for clash in error.clashes], is_later), reader(call.author)
    rows = []
    for clash in error.clashes:
        theirs = clash.theirs if may_read is None or may_read(clash.object) else None
        # An outer layer masks secrets in `theirs` and `mine`. It recognizes them by `member`.
        row = {"object": clash.object, "member": clash.member, "theirs": theirs, "mine": clash.mine}
        rows.append(without_unset(row | last.get(clash.object, {})))
    return rows


async def last_changes(
    call: Call, objects: Sequence[str], is_wanted: Callable[[Entry], bool] = lambda entry: True
) -> dict[str, dict[str, Any]]:
    """Return the author of the last wanted change to each object, by the name of the object.

    Omit objects of which the history has no such change.
    """

    def newest(journal: Journal) -> dict[str, Entry]:
        entries = ((object_, next(filter(is_wanted, journal.find(object_)), None)) for object_ in dict.fromkeys(objects))
        return {object_: entry for object_, entry in entries if entry}

    try:
        await call.services.history.settled()
        entries = await call.services.history.ask(newest)
        return await run_in_thread(lambda: {object_: _authorship(entry) for object_, entry in entries.items()})
    except Unusable:
        return {}


def _authorship(entry: Entry) -> dict[str, Any]:
    return {"author": entry.author.name, "entry": str(entry.id), "version": entry.version, "time": timestamp(entry.time)}


# Actions whose `If-Match` is compared with the ETag of one object. Other actions compare it with that of the collection.
_OF_ONE = ("replace", PATCH, "delete")


def compares_one(call: Call) -> bool:
    """Return whether `If-Match` of a write is compared with the ETag of one object or text. Otherwise it is compared with that of a
    collection.
    """
    return not call.operation.resource or call.operation.action in _OF_ONE


def expected_object(call: Call, document: Document, place: ObjectPlace, forms: Iterable[bool]) -> Expect:
    """Return what the commit of a write with `If-Match` expects: the value with that ETag. If no value has it, the expectation always
    fails.

    `forms` lists the forms in which GET returns the object: True for a section with its children, False for a section without them. Raises
    Forbidden if the caller may not read the object.
    """
    if_match: str = call.values[IF_MATCH]
    rights, number = call.author.rights, call.query.version or 0
    if isinstance(rights, Rights) and compares_one(call):
        rights.require(READ, object_to_read(call.operation, call))
    for full in forms:
        value = find_value(document, place, full=full)
        if value is not None and if_match.strip() == ANY:
            return Version(number) if number else ANY_VERSION
        if value is not None and holds(if_match, tag_of(to_json(call.view(value, JSON)))):
            return ExpectedObject(place, value, full, number=number)
    return ExpectedObject(place, None, number=number)


def matches_text(call: Call, text: bytes) -> bool:
    """Return whether `If-Match` contains the ETag of a text. The ETag is that of the part which the caller may see."""
    return holds(call.values[IF_MATCH], tag_of(visible_text(call.view, text)))


def precondition_failed(call: Call) -> ApiError:
    """Return the error 412 for an `If-Match` that does not match. Its message names the GET that returns the current ETag."""
    weak = "; a weak ETag (W/) never matches" if "W/" in call.values[IF_MATCH] else ""
    path = call.operation.at(call.values)
    if not compares_one(call) and call.operation.is_of_one:
        path = path.rpartition("/")[0]
    required = [parameter.name for parameter in call.operation.parameters if parameter.location == "query" and parameter.required]
    query = urlencode({name: call.values[name] for name in ("transaction_id", "file", *required) if name in call.values})
    url = f"/v3{path}" + (f"?{query}" if query else "")
    return ApiError(
        412, f"{IF_MATCH} does not match the current state{weak}; nothing was changed. GET {url} returns that state with its ETag"
    )
