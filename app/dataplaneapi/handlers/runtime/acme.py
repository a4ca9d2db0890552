"""Certificates that the running HAProxy obtains from an ACME authority: their status, and renewal on demand."""

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import asking
from haproxy_native.acme.status import HEAD, certificates
from haproxy_native.runtime.argument import argument


async def status(call: ReadCall) -> Response:
    async with asking(call, classed=False) as runtime:
        return json_response(200, list(certificates(await runtime.read("acme status", HEAD))))


async def renew(call: JsonCall) -> Response:
    async with asking(call, classed=False) as runtime:
        await runtime.ask(f"acme renew {argument(call.get('certificate'))}")
    return empty(200)
