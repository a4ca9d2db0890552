"""What reloads were for, and which edits would end them."""

from dataclasses import asdict

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.reload.advice import advise


async def read(call: ReadCall) -> Response:
    reloads, advice = advise(call.services.records.all())
    found = [{name: value for name, value in asdict(each).items() if value != ""} for each in advice]
    return json_response(200, {"reloads": reloads, "advice": found})
