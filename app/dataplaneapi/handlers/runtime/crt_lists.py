"""Read and change certificate lists in the memory of HAProxy, but not their files."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.handlers.runtime.live_change import change, permit_change
from haproxy_native.editing.object_names import spelled
from haproxy_native.runtime import ssl_files
from haproxy_native.storage import crt_list


async def read_all(call: ReadCall) -> Response:
    async with use_runtime(call) as runtime:
        return json_response(200, [{"file": name} for name in await ssl_files.list_crt_lists(runtime)])


async def entries(call: ReadCall) -> Response:
    async with use_runtime(call) as runtime:
        rows = await ssl_files.read_crt_list(runtime, call.query.name)
    if not rows:
        raise ApiError(404, f"{runtime.address} not found")
    return json_response(200, [row.as_object() for row in rows])


async def add_entry(call: JsonCall) -> Response:
    name, entry = call.query.name, _new_entry(call)
    await change(call, _object(name), lambda runtime: ssl_files.add_crt_list_entry(runtime, name, entry.file, entry.options, entry.filters))
    return empty(201)


async def delete_entry(call: JsonCall) -> Response:
    name, file, line = call.query.name, call.query.cert_file, call.query.line_number
    await change(call, _object(name), lambda runtime: ssl_files.delete_crt_list_entry(runtime, name, file, line))
    return empty(204)


def _object(name: str) -> str:
    return spelled("crt_list", name)


def _new_entry(call: Call) -> crt_list.CrtListLine:
    """Return the entry in the body. Raises ApiError if the entry names no certificate."""
    entry = crt_list.entry_of(call.body)
    if not entry.file:
        raise ApiError(400, "missing certificate file name")
    return entry


async def check_new(call: Call) -> None:
    _new_entry(call)
    permit_change(call, _object(call.query.name))


async def check_deletion(call: Call) -> None:
    permit_change(call, _object(call.query.name))


CHECKS = {"add_entry": check_new, "delete_entry": check_deletion}
