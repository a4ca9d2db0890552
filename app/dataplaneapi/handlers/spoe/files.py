"""List, upload, return and delete whole SPOE files, and return the version of a file."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response, reload_headers
from dataplaneapi.api.upload import UploadCall
from haproxy_native.editing.object_names import spelled
from haproxy_native.planning.touches import ANY, CHANGE, Touch


async def list_all(call: ReadCall) -> Response:
    return json_response(200, [str(path) for path in call.services.spoe.list()])


async def create(call: UploadCall) -> Response:
    data = b"".join([piece async for piece in call.body.pieces()])
    path, outcome = await call.services.spoe.create(call.body.name, data, call.author)
    return json_response(201, str(path), reload_headers(outcome.reload_id))


async def read(call: ReadCall) -> Response:
    return json_response(200, {"data": call.services.spoe.text(call.path.name)})


async def delete(call: JsonCall) -> Response:
    await call.services.spoe.delete(call.path.name, call.author)
    return empty(204)


async def version(call: ReadCall) -> Response:
    return json_response(200, call.services.spoe.file(call.path.parent_name).version(call.query.transaction_id))


def permit(call: Call, name: str) -> None:
    """Raise Forbidden unless the author of a call may change the SPOE file. The file need not exist."""
    call.author.permit(Touch(spelled("spoe", name), CHANGE, frozenset((ANY,))))


async def check_new(call: Call) -> None:
    permit(call, call.body.name.rpartition("/")[2])


async def check_deletion(call: Call) -> None:
    permit(call, call.path.name)
    call.services.spoe.file(call.path.name)


CHECKS = {"create": check_new, "delete": check_deletion}
