"""List the paths directly below a path that clients can read with GET."""

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response


async def root(call: ReadCall) -> Response:
    """Raise ApiError (404). The document declares the root path, but the Data Plane API does not serve it."""
    raise ApiError(404, "no matching operation was found")


async def children(call: ReadCall) -> Response:
    base = call.operation.path
    below = [
        operation for operation in call.services.index.operations if operation.method == "GET" and operation.path.rpartition("/")[0] == base
    ]
    rows = [{"description": page.declared.get("description"), "title": page.declared.get("summary"), "url": page.path} for page in below]
    return json_response(200, [{name: text for name, text in row.items() if text} for row in rows])
