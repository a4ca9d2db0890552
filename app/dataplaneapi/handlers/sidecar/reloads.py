"""Schedule a reload without a change, and return the full record of a reload, the causes of past reloads, and how to avoid them."""

import time
from dataclasses import asdict
from typing import Any

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.handlers.sidecar.operations import started
from haproxy_native.errors import Missing
from haproxy_native.operations.operations import RELOAD
from haproxy_native.planning.touches import CREATE
from haproxy_native.reload.records import advise

TIMES = ("requested", "started", "ended")


async def create(call: JsonCall) -> Response:
    after = call.query.after or 0.0
    due = time.time() + after if after else None
    return await started(call, call.services.operations.begin(RELOAD, due, author=call.author, needs=(CREATE, RELOAD)))


async def read(call: ReadCall) -> Response:
    try:
        record = await call.services.records.full(call.path.id)
    except Missing as error:
        raise ApiError(404, error.detail) from None
    return json_response(
        200, as_dict(record, call.services.bundle["components"]["schemas"]["reload_change"]["properties"]["raw"]["x-location"])
    )


async def read_advice(call: ReadCall) -> Response:
    """Return the causes of past reloads, and the edits that would avoid such reloads."""
    reloads, advice = advise(call.services.records.all())
    return json_response(200, {"reloads": reloads, "advice": [without_unset(asdict(advice_)) for advice_ in advice]})


def as_dict(record: dict[str, Any], raw: str) -> dict[str, Any]:
    """Return a record as clients get it. `raw` is a template for the path of the configuration after a change in the history."""
    shown = {name: timestamp(value) if name in TIMES else value for name, value in record.items()}
    if changes := record.get("changes"):
        shown["changes"] = [change | {"raw": raw.format(**change)} if "entry" in change else change for change in changes]
    return shown
