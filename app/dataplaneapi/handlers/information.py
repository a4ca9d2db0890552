"""Return information about the server: its version, the machine, the state of HAProxy, and the OpenAPI document."""

import asyncio
import json
import os
import re
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.operations import served_document
from dataplaneapi.api.probes import PROBE_SECONDS
from dataplaneapi.api.responses import Response, json_response, to_json
from dataplaneapi.feature_list import missing
from dataplaneapi.open_engine import status_command
from dataplaneapi.version import BUILD_DATE, COMMIT
from haproxy_native.child import PIPE, Child, read
from haproxy_native.errors import RuntimeFailure
from haproxy_native.grammar.load import BUNDLE

SWAGGER = BUNDLE.with_name("swagger.json")
STATUS_SECONDS = 10


async def info(call: ReadCall) -> Response:
    settings = call.services.settings
    system = machine() if settings.show_system_info else {}
    return json_response(200, {"api": {"build_date": BUILD_DATE, "version": f"{settings.api_version} {COMMIT}"}, "system": system})


async def health(call: ReadCall) -> Response:
    """Return the state of HAProxy: `up`, `down` or `unknown`.

    If `status_cmd` is set, the result of that command is the state. Otherwise, the state is `up` if a worker answers. If no worker answers
    within PROBE_SECONDS, the status command of the service manager decides. Without such a command, the state is `down` if HAProxy is
    expected to run, or else `unknown`.
    """
    settings, engine = call.services.settings, call.services.engine
    if not settings.status_cmd:
        with suppress(RuntimeFailure, TimeoutError):
            async with asyncio.timeout(PROBE_SECONDS):
                await engine.runtime.worker()
            return json_response(200, {"haproxy": "up"})
    if command := status_command(settings):
        state = await _run_status_command(command)
    else:
        state = "down" if engine.expects_haproxy() else "unknown"
    return json_response(200, {"haproxy": state})


async def swagger(call: ReadCall) -> Response:
    return Response(200, await asyncio.to_thread(swagger_document, call.exchange.scheme))


def swagger_document(scheme: str) -> bytes:
    """Return the Swagger 2 document. Swagger UI and generated clients send their calls with `scheme`."""
    return _swagger_of_features().replace(b'"schemes":["http"]', b'"schemes":["%b"]' % scheme.encode(), 1)


@cache
def _swagger_of_features() -> bytes:
    """Return the Swagger 2 document without the operations and parameters of missing features."""
    data, missing_features = SWAGGER.read_bytes(), missing()
    if not missing_features:
        return data
    document, served = json.loads(data), served_document()["paths"]
    parameters = {name: declared for name, declared in document["parameters"].items() if declared.get("x-feature") not in missing_features}
    for path in document["paths"].keys() - served.keys():
        del document["paths"][path]
    for operation in (each for path in document["paths"].values() for each in path.values() if "parameters" in each):
        operation["parameters"] = [each for each in operation["parameters"] if each.get("$ref", "").rpartition("/")[2] in ("", *parameters)]
    return to_json({**document, "parameters": parameters})


async def openapi(call: ReadCall) -> Response:
    return Response(200, await asyncio.to_thread(openapi_document))


def openapi_document() -> bytes:
    """Return the OpenAPI 3 document without the operations of missing features."""
    return BUNDLE.read_bytes() if not missing() else to_json(served_document())


async def _run_status_command(command: list[str]) -> str:
    """Run a status command and return `up` or `down`. A command that cannot start, or runs longer than STATUS_SECONDS, means `down`."""
    try:
        child = Child(command, stdout=PIPE)
    except OSError:
        return "down"
    assert child.stdout
    try:
        async with asyncio.timeout(STATUS_SECONDS):
            output, code = await asyncio.gather(read(child.stdout, 100), child.wait())
    except TimeoutError:
        await child.kill()
        return "down"
    finally:
        child.close()
    # s6-svstat prints true or false, and exits with 0 in both cases.
    return "up" if code == 0 and output.strip() != "false" else "down"


def machine() -> dict[str, Any]:
    """Return facts about the machine. Sizes are in bytes, the time is a Unix time, and the uptime is in seconds."""
    memory = {name: int(kilobytes) * 1024 for name, kilobytes in re.findall(r"^(\w+):\s+(\d+) kB", _proc("meminfo"), re.MULTILINE)}
    resident = int((_proc("self/statm").split() or ["0", "0"])[1]) * os.sysconf("SC_PAGE_SIZE")
    model = re.search(r"^model name\s*:\s*(.*)$", _proc("cpuinfo"), re.MULTILINE)
    name = os.uname()
    return {
        "cpu_info": {"model": model[1] if model else "", "num_cpus": os.cpu_count() or 1},
        "hostname": name.nodename,
        "mem_info": {"dataplaneapi_memory": resident, "free_memory": memory.get("MemFree", 0), "total_memory": memory.get("MemTotal", 0)},
        "os_string": f"{name.sysname} {name.release} {name.version}",
        "time": int(time.time()),
        "uptime": int(float((_proc("uptime").split() or ["0"])[0])),
    }


def _proc(name: str) -> str:
    """Return the text of a file in /proc; an empty text if the file cannot be read."""
    try:
        return Path("/proc", name).read_text()
    except OSError:
        return ""
