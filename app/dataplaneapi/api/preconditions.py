"""`If-Match` on writes: made only where the client has seen what stands there now (RFC 9110, section 13.1.1).

It is compared inside the edit, with what GET answers of the very document that is edited: a commit in between has edited another one.
"""

from collections.abc import Callable, Iterable, Iterator
from urllib.parse import urlencode

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.etags import ANY, holds, tag_of
from dataplaneapi.api.operations import IF_MATCH, PATCH
from dataplaneapi.api.reading import asked_for
from haproxy_native.access.rights import READ, Rights
from haproxy_native.errors import IndexOutOfRange, Missing, NoParent
from haproxy_native.request_context import author

# Actions on one object; the others are compared with their collection.
_OF_ONE = ("replace", PATCH, "delete")


def is_of_one(call: Call) -> bool:
    """Whether a write is compared with one object, or with a whole text."""
    return not call.operation.resource or call.operation.action in _OF_ONE


def check(call: Call, answers: Callable[[], Iterable[bytes]]) -> None:
    """`answers`: what GET answers now, in each way there is. Raises ApiError with 412, and Forbidden for what the caller may not read."""
    wanted: str | None = call.get(IF_MATCH)
    if wanted is None:
        return
    rights = author.get().rights
    if isinstance(rights, Rights) and is_of_one(call):
        rights.require(READ, asked_for(call.operation, call))
    if wanted.strip() != ANY and not any(holds(wanted, tag_of(call.view(answer))) for answer in _there(answers)):
        raise stale(call)


def _there(answers: Callable[[], Iterable[bytes]]) -> Iterator[bytes]:
    """Nothing where there is nothing."""
    try:
        yield from answers()
    except (Missing, NoParent, IndexOutOfRange):
        return


def stale(call: Call) -> ApiError:
    weak = "; a weak ETag (W/) never holds here" if "W/" in call.get(IF_MATCH) else ""
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
