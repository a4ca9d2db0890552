"""Read and change the definitions of service discovery. `source` of the operation selects the kind, such as Consul."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response
from haproxy_native.discovery.discovery import Definitions


def _definitions(call: Call) -> Definitions:
    return call.services.discovery.kinds[call.operation.source]


async def list_all(call: ReadCall) -> Response:
    return json_response(200, _definitions(call).list_all())


async def create(call: JsonCall) -> Response:
    return json_response(201, _definitions(call).create(call.body, call.author))


async def read(call: ReadCall) -> Response:
    return json_response(200, _definitions(call).get(call.path.id))


async def replace(call: JsonCall) -> Response:
    return json_response(200, await _definitions(call).replace(call.path.id, call.body, call.author))


async def delete(call: JsonCall) -> Response:
    await _definitions(call).delete(call.path.id)
    return empty(204)
