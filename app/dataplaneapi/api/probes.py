"""Answer the health probes `/livez` and `/readyz`, which need no credentials.

`/livez` succeeds if the server answers requests. `/readyz` answers 503 if the server cannot make changes or they cannot reach HAProxy, and
reports a status and a reason for each part. On a read-only server it ignores the conditions that only changes need.
"""

import asyncio
import os
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.responses import TEXT, Response, json_response
from dataplaneapi.host import mounts
from haproxy_native.errors import READ_ONLY, RuntimeFailure, Unreadable
from haproxy_native.reload.agent import WAITS

if TYPE_CHECKING:
    from dataplaneapi.api.services import Services

PROBE_SECONDS = 2.0
_OK = {"status": "ok"}
_NOT_READY = ("failed", "waiting")


def answer(services: "Services", exchange: Exchange) -> Response | Awaitable[Response] | None:
    """Return the response to a probe, or None for any other request."""
    if exchange.path == "/livez":
        return Response(200, b"ok\n", TEXT)
    return _readiness(services) if exchange.path == "/readyz" else None


async def _readiness(services: "Services") -> Response:
    parts = {"configuration": await _configuration(services), "runtime": await _runtime(services), "reload": dict(_OK)}
    reloads = services.engine.reloads
    if id_ := reloads.awaiting:
        parts["reload"] = {"status": "waiting", "id": id_, "reason": reloads.records.get(id_).response or WAITS}
    if services.settings.read_only:
        parts["changes"] = {"status": "disabled", "reason": READ_ONLY}
    reasons = {name: reason for name, directory in services.directories.items() if (reason := directory.why_unwritable())}
    # An unusable directory disables only the features that store files in it, so it does not fail the probe.
    parts |= {name: {"status": "disabled", "reason": reason} for name, reason in reasons.items()}
    if reason := services.audit.write_error:
        # A failing audit log neither delays nor refuses changes.
        parts["audit"] = {"status": "disabled", "reason": reason}
    if reason := services.engine.database.backlog:
        # The next change tries to write the history again. If the disk is full, the part `configuration` fails the probe.
        parts["history"] = {"status": "disabled", "reason": reason}
    ready = all(part["status"] not in _NOT_READY for part in parts.values())
    return json_response(200 if ready else 503, {"status": "ready" if ready else "not ready", "parts": parts})


async def _configuration(services: "Services") -> dict[str, Any]:
    engine = services.engine
    file, state = engine.settings.file, engine.settings.storage
    with suppress(Unreadable):
        await engine.notice()
    if not os.access(file, os.R_OK):
        return _failed(f"{file} cannot be read")
    if not services.settings.read_only and (reasons := mounts.refused_writes(file.resolve(), state)):
        return _failed(reasons[0])
    if reason := await engine.soundness.refusal(PROBE_SECONDS):
        return _failed(reason)
    return _OK | {"version": engine.version()}


async def _runtime(services: "Services") -> dict[str, Any]:
    """Return the status of HAProxy's worker.

    If the socket does not answer, the status is `failed` if HAProxy is expected to run, else `unknown`.
    """
    engine = services.engine
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            worker = await engine.runtime.worker()
        return _OK | {"pid": worker.pid, "socket": engine.runtime.address}
    except TimeoutError:
        reason = f"{engine.runtime.address}: no answer within {PROBE_SECONDS:g} s"
    except RuntimeFailure as error:
        reason = str(error)
    return {"status": "failed" if engine.expects_haproxy() else "unknown", "reason": reason}


def _failed(reason: str) -> dict[str, Any]:
    return {"status": "failed", "reason": reason}
