"""List background operations, wait for their end, and cancel them."""

from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import page, timestamp, without_unset
from dataplaneapi.api.responses import LOCATION, Response, empty, json_response
from haproxy_native.access.initiator import Initiator
from haproxy_native.access.rights import Rights
from haproxy_native.editing.object_names import spelled
from haproxy_native.operations.operations import BackgroundOperation

# Seconds. The time limit of a response is the time that it waits for the end of the operation, plus this.
ANSWER_SECONDS = 10.0


async def list_all(call: ReadCall) -> Response:
    status = call.query.status
    return page(call, [as_dict(operation) for operation in call.services.operations.all() if status in ("", operation.status)])


async def read(call: ReadCall) -> Response:
    seconds = call.query.wait or 0.0
    call.exchange.answer_within(seconds + ANSWER_SECONDS)
    background = await call.services.operations.wait_until_ended(call.path.id, seconds)
    shown, author = as_dict(background), call.author
    if isinstance(author.rights, Rights) and not author.rights.may_read(spelled("operation", background.id)):
        # A caller that has started an operation may see what the operation works on.
        initiator = Initiator.from_dict(background.by)
        if not author.name or (initiator.group, initiator.name) != (author.group, author.name):
            shown = {name: value for name, value in shown.items() if name != "error"} | {"progress": {}}
    return json_response(200, shown)


async def cancel(call: JsonCall) -> Response:
    await call.services.operations.cancel(call.path.id)
    return empty(204)


async def started(call: Call, background: BackgroundOperation) -> Response:
    """Wait until a new operation is stored, so that the operation survives a restart, and answer 202."""
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
    return without_unset(shown)
