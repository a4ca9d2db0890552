"""`If-Match` on writes: made only where the client has seen what stands there now (RFC 9110, section 13.1.1).

It is compared with what GET answers before the change is made, and what was seen then is what the change expects to find.
"""

from collections.abc import Iterable
from urllib.parse import urlencode

from dataplaneapi.api.access import asked_for, of_text
from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.etags import ANY, holds, tag_of
from dataplaneapi.api.operations import IF_MATCH, PATCH
from dataplaneapi.api.responses import JSON, to_json
from haproxy_native.access.rights import READ, Rights
from haproxy_native.changes.expect import ANY as ANY_VERSION
from haproxy_native.changes.expect import Expect, SeenObject, Version, seen
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.text.document import Document

# Actions on one object; the others are compared with their collection.
_OF_ONE = ("replace", PATCH, "delete")


def is_of_one(call: Call) -> bool:
    """Whether a write is compared with one object, or with a whole text."""
    return not call.operation.resource or call.operation.action in _OF_ONE


def expected(call: Call, document: Document, place: ObjectPlace, ways: Iterable[bool]) -> Expect:
    """Return what the client has seen, if that is what stands there now; `ways`: whether GET answers it with all that stands in it.

    Raises Forbidden for what the caller may not read.
    """
    wanted: str = call.values[IF_MATCH]
    rights, number = call.author.rights, call.query.version or 0
    if isinstance(rights, Rights) and is_of_one(call):
        rights.require(READ, asked_for(call.operation, call))
    for full in ways:
        value = seen(document, place, full=full)
        if value is not None and wanted.strip() == ANY:
            return Version(number) if number else ANY_VERSION
        if value is not None and holds(wanted, tag_of(to_json(call.view(value, JSON)))):
            return SeenObject(place, value, full, number=number)
    return SeenObject(place, None, number=number)


def matches(call: Call, text: bytes) -> bool:
    """Return whether the client has seen this text."""
    return holds(call.values[IF_MATCH], tag_of(of_text(call.view, text)))


def stale(call: Call) -> ApiError:
    weak = "; a weak ETag (W/) never holds here" if "W/" in call.values[IF_MATCH] else ""
    return ApiError(
        412, f"{IF_MATCH} is not of what stands there now{weak}; nothing was changed. GET {_path(call)} answers it with its ETag"
    )


def _path(call: Call) -> str:
    """Returns the path of the GET whose response is compared."""
    path = call.operation.at(call.values)
    if not is_of_one(call) and call.operation.is_of_one:
        path = path.rpartition("/")[0]
    declared = [parameter.name for parameter in call.operation.parameters if parameter.place == "query" and parameter.required]
    query = urlencode({name: call.values[name] for name in ("transaction_id", "file", *declared) if name in call.values})
    return f"/v3{path}" + (f"?{query}" if query else "")
