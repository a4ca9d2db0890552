"""List background operations, wait for their end, and cancel them."""

from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import page, present, timestamp
from dataplaneapi.api.responses import LOCATION, Response, empty, json_response
from haproxy_native.access.initiator import Initiator
from haproxy_native.access.rights import Rights
from haproxy_native.editing.object_names import spelled
from haproxy_native.operations.operations import BackgroundOperation
from haproxy_native.request_context import Author

# Seconds. The time limit of a response is the time that it waits for the end of the operation, plus this.
ANSWER_SECONDS = 10.0


async def list_all(call: ReadCall) -> Response:
    status = call.query.status
    return page(call, [as_dict(operation) for operation in call.services.operations.all() if status in ("", operation.status)])


async def read(call: ReadCall) -> Response:
    seconds = call.query.wait or 0.0
    call.exchange.answer_within(seconds + ANSWER_SECONDS)
    operation = await call.services.operations.ended(call.path.id, seconds)
    shown = as_dict(operation)
    if not _is_open_to(call.author, operation):
        shown = {name: value for name, value in shown.items() if name != "error"} | {"progress": {}}
    return json_response(200, shown)


def _is_open_to(by: Author, background: BackgroundOperation) -> bool:
    """Return whether the caller may see what an operation works on, because it may read the operation or has started it."""
    if not isinstance(by.rights, Rights) or by.rights.may_read(spelled("operation", background.id)):
        return True
    initiator = Initiator.from_dict(background.by)
    return bool(by.name) and (initiator.group, initiator.name) == (by.group, by.name)


async def cancel(call: JsonCall) -> Response:
    await call.services.operations.cancel(call.path.id)
    return empty(204)


async def started(call: Call, background: BackgroundOperation) -> Response:
    """Wait until a new operation is stored, so that it survives a restart, and answer 202."""
    await call.services.operations.written()
    return json_response(202, as_dict(background), [(LOCATION, f"/v3/sidecar/operations/{background.id}".encode())])


def as_dict(background: BackgroundOperation) -> dict[str, Any]:
    shown = {
        "id": background.id,
        "kind": background.kind,
        "status": background.status,
        "created": timestamp(background.created),
        "due": None if background.due is None else timestamp(background.due),
        "ended": None if background.ended is None else timestamp(background.ended),
        "progress": background.progress,
        "error": background.error,
    }
    return present(shown)
