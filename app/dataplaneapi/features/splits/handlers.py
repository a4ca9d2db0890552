"""The operations on splits."""

from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import timestamp
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response, reload_headers
from dataplaneapi.features.splits.feature import SplitsFeature
from haproxy_native.features.splits.rules import LinesMissing
from haproxy_native.features.splits.splits import Splits, SplitStatus


async def read_list(call: ReadCall) -> Response:
    return json_response(200, [as_dict(split) for split in await _splits(call).all()])


async def read(call: ReadCall) -> Response:
    return json_response(200, as_dict(await _splits(call).status(call.path.name)))


async def replace(call: JsonCall) -> Response:
    splits, name = _splits(call), call.path.name
    try:
        outcome = await splits.put(name, call.body["by"], call.body["weights"], call.query.frontend, author=call.author)
    except LinesMissing as error:
        message = error.detail if error.frontend is None else f"{error.detail}: ?frontend={error.frontend or 'NAME'}"
        raise ApiError(409, message, plan={"lines": list(error.lines)}) from None
    headers = reload_headers(outcome.reload_id)
    return json_response(202 if headers else 200, as_dict(await splits.status(name)), headers)


async def delete(call: JsonCall) -> Response:
    outcome = await _splits(call).delete(call.path.name, author=call.author)
    return empty(202 if outcome.reload_id else 204, reload_headers(outcome.reload_id))


def as_dict(status: SplitStatus) -> dict[str, Any]:
    """Return a split as JSON."""
    shown = {
        "name": status.name,
        "by": status.split.by,
        "weights": dict(status.split.weights),
        "shares": dict(status.shares),
        "since": timestamp(status.split.since),
        "used_by": list(status.frontends),
        "file": str(status.file),
    }
    return shown if status.requests is None else shown | {"requests": dict(status.requests), "complete": status.complete}


async def check_replace(call: Call) -> bool:
    body, frontend = call.body, call.query.frontend
    return await _splits(call).check_put(call.path.name, body["by"], body["weights"], frontend, author=call.author)


async def check_delete(call: Call) -> bool:
    return await _splits(call).check_delete(call.path.name, author=call.author)


CHECKS = {"replace": check_replace, "delete": check_delete}


def _splits(call: Call) -> Splits:
    return SplitsFeature.of(call.services).splits
