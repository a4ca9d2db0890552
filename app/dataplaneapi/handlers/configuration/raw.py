"""The configuration as text, and its version."""

import re
from collections.abc import Callable

from dataplaneapi.api import preconditions
from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.on_conflict import merges
from dataplaneapi.api.operations import IF_MATCH
from dataplaneapi.api.responses import CONFIGURATION_CHECKSUM, RELOAD_ID, TEXT, Header, Response, json_response
from dataplaneapi.handlers.configuration.objects import Document, check_version_or_transaction
from haproxy_native.beside import beside

_CHECKSUM = re.compile(rb"# _md5hash=([0-9a-fA-F]+)")


async def version(call: ReadCall) -> Response:
    engine, transaction_id = call.services.engine, call.get("transaction_id")
    engine.read(transaction_id)
    return json_response(200, engine.version(transaction_id))


async def read(call: ReadCall) -> Response:
    return _text(200, await beside(call.services.engine.raw, call.get("version"), call.get("transaction_id"), file=call.get("file", "")))


async def replace(call: JsonCall) -> Response:
    """Validates or pushes a whole text; the answer's body is the configuration as it then stands."""
    engine, file = call.services.engine, call.get("file", "")
    if b"\n" not in call.body:
        raise ApiError(400, "invalid configuration: no newline character found")
    if call.get("only_validate"):
        await engine.validate(call.body, file=file)
        return _text(202, await _readable(call, file))
    if not call.get("skip_version"):
        check_version_or_transaction(call, None, call.get("version", 0))
    outcome = await engine.push_raw(
        call.body,
        version=call.get("version"),
        instead_of=await _matched(call, file) if IF_MATCH in call.values else None,
        skip_version=bool(call.get("skip_version")),
        skip_reload=bool(call.get("skip_reload")),
        force_reload=bool(call.get("force_reload")),
        actions=call.get("X-Runtime-Actions", ""),
        file=file,
        merges=merges(call),
    )
    if outcome.live or call.get("skip_reload"):
        return _text(201, await _readable(call, file))
    return _text(202, await _readable(call, file), outcome.reload_id)


async def _readable(call: Call, file: str) -> bytes:
    """The configuration as it stands; nothing of it for a caller who may not read everything."""
    return b"" if reader() else await beside(call.services.engine.raw, file=file)


async def _matched(call: Call, file: str) -> Callable[[Document], None]:
    """Refuses any document but that of the text which the client has seen. Raises ApiError with 412."""
    engine = call.services.engine
    await engine.notice()
    seen = engine.read()
    text = await beside(engine.raw, file=file)
    await beside(preconditions.check, call, lambda: [text])

    def check(now: Document) -> None:
        if now is not seen:
            raise preconditions.stale(call)

    return check


def _text(status: int, data: bytes, reload_id: str | None = None) -> Response:
    headers: list[Header] = [(RELOAD_ID, reload_id.encode())] if reload_id else []
    if checksum := _CHECKSUM.match(data):
        headers.append((CONFIGURATION_CHECKSUM, checksum[1]))
    return Response(status, data, TEXT, headers)
