"""What a supervisor asks without credentials: is the process alive, can it do its work, and its counters.

`/livez` says that requests are answered. `/readyz` is 503 when no change could be made; a HAProxy that does not answer is told
there, but is no reason to take its only helper out of service.
"""

import asyncio
import os
from typing import TYPE_CHECKING, Any

from app import metrics, mounts
from app.answer import TEXT, Answer, json_answer
from native.errors import RuntimeFailure

if TYPE_CHECKING:
    from app.sidecar import Sidecar

PATHS = frozenset({"/livez", "/readyz", "/metrics"})
PATIENCE = 2.0
_OK = {"status": "ok"}


async def answer(sidecar: "Sidecar", path: str) -> Answer:
    """Of one of PATHS."""
    if path == "/livez":
        return Answer(200, b"ok\n", TEXT)
    if path == "/metrics":
        return Answer(200, await metrics.exposition(sidecar), metrics.CONTENT_TYPE)
    parts = {"configuration": _configuration(sidecar), "runtime": await _runtime(sidecar)}
    parts |= {name: {"status": "disabled", "reason": trouble} for name, each in sidecar.directories.items() if (trouble := each.trouble())}
    ready = parts["configuration"]["status"] == "ok"
    return json_answer(200 if ready else 503, {"status": "ready" if ready else "not ready", "parts": parts})


def _configuration(sidecar: "Sidecar") -> dict[str, Any]:
    file = sidecar.engine.settings.file
    if not os.access(file, os.R_OK):
        return {"status": "failed", "reason": f"{file} cannot be read"}
    if troubles := mounts.refused_writes(file.resolve()):
        return {"status": "failed", "reason": troubles[0]}
    return _OK | {"version": sidecar.engine.version()}


async def _runtime(sidecar: "Sidecar") -> dict[str, Any]:
    runtime = sidecar.engine.runtime
    try:
        async with asyncio.timeout(PATIENCE):
            worker = await runtime.worker()
    except TimeoutError:
        return {"status": "failed", "reason": f"{runtime.address}: no answer within {PATIENCE:g} s"}
    except RuntimeFailure as error:
        return {"status": "failed", "reason": str(error)}
    return _OK | {"pid": worker.pid, "socket": runtime.address}
