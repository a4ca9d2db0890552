"""Return the status of the certificates that the running HAProxy obtains from an ACME authority, and renew them on demand."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.handlers.runtime.live_change import change, permit_change
from haproxy_native.acme.haproxy_output import HEAD, parse_status
from haproxy_native.editing.object_names import spelled
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime


async def status(call: ReadCall) -> Response:
    failures = call.services.acme.solver.failures
    async with use_runtime(call, classed=False) as runtime:
        rows = list(parse_status(await runtime.read_dump("acme status", HEAD)))
    return json_response(200, [row | ({"error": error} if (error := failures.get(row["certificate"])) else {}) for row in rows])


async def renew(call: JsonCall) -> Response:
    name = call.query.certificate

    async def work(runtime: Runtime) -> None:
        await runtime.execute(f"acme renew {argument(name)}")

    await change(call, spelled("certificate", name), work, classed=False)
    return empty(200)


async def check_renew(call: Call) -> None:
    permit_change(call, spelled("certificate", call.query.certificate))


CHECKS = {"renew": check_renew}
