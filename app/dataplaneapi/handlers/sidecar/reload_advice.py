"""Return the causes of past reloads, and the edits that would avoid such reloads."""

from dataclasses import asdict

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.conventions import without_unset
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.reload.records import advise


async def read(call: ReadCall) -> Response:
    reloads, advice = advise(call.services.records.all())
    return json_response(200, {"reloads": reloads, "advice": [without_unset(asdict(advice_)) for advice_ in advice]})
