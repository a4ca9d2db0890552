"""The operations that list the present and the former workers of HAProxy, and end a former worker."""

from typing import Any

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.conventions import timestamp
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.features.drains.feature import DrainsFeature
from dataplaneapi.handlers.sidecar.operations import started
from haproxy_native.workers.workers import WorkerProcess

UNKNOWN = "unknown"


async def read_list(call: ReadCall) -> Response:
    workers = call.services.workers
    async with use_runtime(call, seconds=None):
        shown = [as_dict(worker) for worker in await workers.all()]
    if note := workers.note:
        shown[0]["note"] = note
    return json_response(200, shown)


async def end(call: JsonCall) -> Response:
    """End a former worker of HAProxy by closing its sessions. The worker gets no signal."""
    below, after = call.query.when_sessions_below, call.query.after
    begun = await DrainsFeature.of(call.services).ending.begin(call.services.operations, call.path.pid, below, after, author=call.author)
    return await started(call, begun)


def as_dict(worker: WorkerProcess) -> dict[str, Any]:
    """Return a worker as JSON."""
    return {
        "pid": worker.pid,
        "current": worker.current,
        "started": timestamp(worker.started),
        "version": UNKNOWN if worker.version is None else worker.version,
        "connections": worker.connections,
        "sessions": dict(worker.sessions),
        "memory": worker.memory,
    }
