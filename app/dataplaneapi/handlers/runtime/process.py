"""Return facts about the process of the running HAProxy, and its counters.

Clients detect a failure by the member `error`, which comes with `runtimeAPI`, the socket. The status of `info` is 200 even then.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.api.runtime_call import read_long, use_runtime
from haproxy_native.errors import BadValue, RuntimeFailure, RuntimeRefused, RuntimeUnconfigured
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.dumps import STATISTICS_HEAD, StatisticsDump
from haproxy_native.runtime.responses import process_info
from haproxy_native.threads import run_in_thread

_BITS = {"frontend": 1, "backend": 2, "server": 4}


async def info(call: ReadCall) -> Response:
    known = frozenset(_properties(call, "process_info_item"))
    try:
        async with use_runtime(call) as runtime:
            facts = answers.info(await runtime.read_dump("show info", "Name: "))
    except RuntimeUnconfigured:
        raise
    except RuntimeFailure as error:
        return json_response(200, {"error": str(error), "runtimeAPI": call.services.engine.runtime.place})
    return json_response(200, {"info": process_info(facts, known), "runtimeAPI": runtime.place})


async def stats(call: ReadCall) -> Response:
    kind, name, parent = call.query.type, call.query.name, call.query.parent
    if name and not kind:
        raise ApiError(400, "Type required when filtering by name")
    if name and kind == "server" and not parent:
        raise ApiError(400, "Parent backend required when filtering by server")

    def is_selected(row_kind: str, row_name: str, proxy: str) -> bool:
        if kind and row_kind != kind:
            return False
        return (not name or row_name == name) and (kind != "server" or not parent or proxy == parent)

    counters = StatisticsDump(
        {name: property_["type"] == "integer" for name, property_ in _properties(call, "native_stat_stats").items()},
        is_selected if kind else None,
    )
    try:
        async with use_runtime(call, seconds=None) as runtime:
            # HAProxy filters the rows by kind and, for servers, if possible by the backend.
            if kind == "server" and parent:
                # HAProxy selects the first proxy of that name. If that is a frontend, there are no rows, and all servers are read below.
                with suppress(RuntimeRefused, BadValue):
                    await read_long(runtime, f"show stat {argument(parent)} {_BITS[kind]} -1", STATISTICS_HEAD, counters)
            if not counters.objects:
                await read_long(runtime, f"show stat -1 {_BITS[kind]} -1" if kind else "show stat", STATISTICS_HEAD, counters)
    except RuntimeUnconfigured:
        raise
    except RuntimeFailure as error:
        return json_response(500, {"error": str(error), "runtimeAPI": call.services.engine.runtime.worker_place})
    return Response(200, await run_in_thread(counters.answer, runtime.worker_place))


def _properties(call: Call, schema: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = call.services.schemas.resolve({"$ref": f"#/components/schemas/{schema}"})["properties"]
    return properties
