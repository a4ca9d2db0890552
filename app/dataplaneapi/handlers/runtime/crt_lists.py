"""Certificate lists in the memory of HAProxy, and their entries; no file is changed."""

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import ALL_NOT_THERE, asking
from haproxy_native.runtime import crt_lists
from haproxy_native.storage import crt_list


async def read_all(call: ReadCall) -> Response:
    async with asking(call, kinds=ALL_NOT_THERE) as runtime:
        return json_response(200, [{"file": name} for name in await crt_lists.names(runtime)])


async def entries(call: ReadCall) -> Response:
    async with asking(call, kinds=ALL_NOT_THERE) as runtime:
        found = await crt_lists.entries(runtime, call.get("name"))
    if not found:
        raise ApiError(404, f"{runtime.address} not found")
    return json_response(200, [entry.as_object() for entry in found])


async def add_entry(call: JsonCall) -> Response:
    entry = crt_list.entry_of(call.body)
    if not entry.file:
        raise ApiError(400, "missing certificate file name")
    async with asking(call) as runtime:
        await crt_lists.add(runtime, call.get("name"), entry.file, entry.options, entry.filters)
    return empty(201)


async def delete_entry(call: JsonCall) -> Response:
    async with asking(call, kinds=ALL_NOT_THERE) as runtime:
        await crt_lists.delete(runtime, call.get("name"), call.get("cert_file"), call.get("line_number"))
    return empty(204)
