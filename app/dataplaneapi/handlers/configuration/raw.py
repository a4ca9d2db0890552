"""Return, validate and replace the configuration as text, and return its version."""

import re

from dataplaneapi.api import conflicts
from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conflicts import merges
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import IF_MATCH
from dataplaneapi.api.responses import CONFIGURATION_CHECKSUM, TEXT, Response, json_response, reload_headers
from dataplaneapi.handlers.configuration.objects import check_version_or_transaction
from haproxy_native.changes.expect import ANY, Expect, ExpectedText, Rebase, Version
from haproxy_native.commit.change import Change, Reload
from haproxy_native.errors import ChangedSince
from haproxy_native.threads import run_in_thread

_CHECKSUM = re.compile(rb"# _md5hash=([0-9a-fA-F]+)")


async def version(call: ReadCall) -> Response:
    engine, transaction_id = call.services.engine, call.query.transaction_id
    engine.read(transaction_id)
    return json_response(200, engine.version(transaction_id))


async def read(call: ReadCall) -> Response:
    return _text_response(
        200, await run_in_thread(call.services.engine.raw, call.query.version, call.query.transaction_id, file=call.query.file)
    )


async def replace(call: JsonCall) -> Response:
    """Replace the configuration by a text or, with `only_validate`, validate the text. The body of the response is the configuration."""
    engine, file = call.services.engine, call.query.file
    if call.query.only_validate:
        _check_lines(call)
        await engine.validate(call.body, file=file, author=call.author)
        return _text_response(202, await _readable_text(call, file))
    change = await _push_change(call)
    try:
        outcome = await engine.commit(change)
    except ChangedSince:
        raise conflicts.precondition_failed(call) from None
    if outcome.live or change.reload is Reload.NONE:
        return _text_response(201, await _readable_text(call, file))
    return _text_response(202, await _readable_text(call, file), outcome.reload_id)


async def _push_change(call: Call) -> Change:
    """Return the change that replaces the configuration. Raises ApiError, with 412 if the text does not match `If-Match`."""
    _check_lines(call)
    engine, file = call.services.engine, call.query.file
    if not call.query.skip_version:
        check_version_or_transaction(call, None, call.query.version or 0)
    is_next, version, is_merged = not call.query.skip_version, call.query.version or 0, merges(call)
    put = await engine.text(call.body, file=file, keeps_version=not is_next, actions=call.values.get("X-Runtime-Actions", ""))
    expect: Expect = ANY
    if IF_MATCH in call.values:
        await engine.notice()
        document, name = engine.document, engine.resolve_file(file)
        if not await run_in_thread(lambda: conflicts.matches_text(call, engine.raw(file=file))):
            raise conflicts.precondition_failed(call)
        expect = ExpectedText.from_document(document, name, version)
    elif is_next:
        expect = Rebase(version) if is_merged else Version(version)
    return Change([put], expect, call.reload, author=call.author)


def _check_lines(call: Call) -> None:
    if b"\n" not in call.body:
        raise ApiError(400, "invalid configuration: no newline character found")


async def check_replace(call: Call) -> bool:
    engine = call.services.engine
    if call.query.only_validate:
        _check_lines(call)
        await engine.permit_evaluation(await run_in_thread(engine.candidate, call.body, file=call.query.file, author=call.author))
        return False
    return await engine.check_change(await _push_change(call))


CHECKS = {"replace": check_replace}


async def _readable_text(call: Call, file: str) -> bytes:
    """Return the current configuration, or an empty text if the caller may not read everything."""
    return b"" if reader(call.author) else await run_in_thread(call.services.engine.raw, file=file)


def _text_response(status: int, data: bytes, reload_id: str | None = None) -> Response:
    headers = reload_headers(reload_id)
    if checksum := _CHECKSUM.match(data):
        headers.append((CONFIGURATION_CHECKSUM, checksum[1]))
    return Response(status, data, TEXT, headers)
