"""Return the outcome of reloads in the format of the Data Plane API. handlers/sidecar/reloads.py returns full records."""

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.errors import Missing


async def list_all(call: ReadCall) -> Response:
    return json_response(200, call.services.records.api_list())


async def read(call: ReadCall) -> Response:
    try:
        return json_response(200, call.services.records.api(call.path.id))
    except Missing as error:
        raise ApiError(404, error.detail) from None
