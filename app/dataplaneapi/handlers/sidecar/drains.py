"""Servers taken out of service, and what is done with them when they are idle."""

from dataplaneapi.api.call import JsonCall
from dataplaneapi.api.conventions import duration
from dataplaneapi.api.responses import Response
from dataplaneapi.api.runtime_call import asking
from dataplaneapi.handlers.sidecar.operations import started
from haproxy_native.drains.drain import Drain

TIMEOUT = "5m"


async def create(call: JsonCall) -> Response:
    body, services = call.body, call.services
    timeout = duration("timeout", body.get("timeout", TIMEOUT))

    def make(servers: list[str]) -> Drain:
        chosen = {name: body[name] for name in ("then", "at_timeout", "keep_ready") if name in body}
        return Drain(servers, body.get("until", {}).get("sessions", 0), timeout, **chosen)

    async with asking(call, seconds=None):
        return started(await services.drains.begin(services.operations, body["targets"], make))
