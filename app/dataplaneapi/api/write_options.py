"""What every write may ask for beside its own: to be taken back unless it is confirmed, to wait for its reload."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote

from dataplaneapi.api.access import readable_tests, reader
from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import timestamp
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import LOCATION, RELOAD_ID, HeaderName, Response, empty
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.confirmations.guard import Guard, read_guard
from haproxy_native.confirmations.ledger import PENDING
from haproxy_native.errors import BreaksTests, ReloadFailed
from haproxy_native.reload.records import FAILED, IN_PROGRESS, Record
from haproxy_native.request_context import Author

FAILING = HeaderName(b"Failing-Tests")
# Of tests in that header.
MOST_NAMED = 10
EXPIRES = HeaderName(b"Confirmation-Expires")
SHORTEST, LONGEST = 2.0, 86400.0
LOOK_SECONDS = 0.05
# Beyond the time that is waited for.
ANSWER_SECONDS = 30.0
OPTIONS = ("confirm", "wait", "guard", "tests")


async def write_options(call: Call, next: Handler) -> Response:
    """Serve a write with the options that it asks for."""
    try:
        response = await (_serve(next, call) if any(name in call.values for name in OPTIONS) else next(call))
    except BreaksTests as error:
        raise _readable(call.author, error) from None
    return _with_failing(call, response)


def _readable(by: Author, error: BreaksTests) -> BreaksTests:
    """Returns the error without test results, for a caller who may not read everything."""
    if reader(by) is None:
        return error
    return BreaksTests(error.detail.partition("\n")[0], failed=readable_tests(by, error.failed), failed_before=error.failed_before)


async def _serve(handler: Handler, call: Call) -> Response:
    async with _confirmation(call, check_options(call)) as author:
        call.author = author
        if author.request:
            author.request.requires_tests = "tests" in call.values
        response = await handler(call)
    if author.confirmation and (confirmation := call.services.confirmations.get(author.confirmation)).status == PENDING:
        location = call.services.bundle["components"]["parameters"]["confirm"]["x-location"].format(id=confirmation.id)
        response.raw_headers += [(LOCATION, location.encode()), (EXPIRES, timestamp(confirmation.deadline or 0).encode())]
    return await _waited(call, response, call.get("wait"))


def check_options(call: Call) -> Guard | None:
    """Return the guard that a call asks for, or None. Raises ApiError for options that are not for it."""
    given = [name for name in OPTIONS if name in call.values and not (name == "tests" and not call.operation.writes)]
    if given and call.get("transaction_id"):
        raise ApiError(400, f"{given[0]} belongs to the commit of a transaction: send it with the PUT that commits it")
    if call.get("confirm", SHORTEST) < SHORTEST:
        raise ApiError(400, f"confirm in query is at least {SHORTEST:g} s")
    return _guard(call)


def _guard(call: Call) -> Guard | None:
    """Return the guard that a call asks for, or None. Raises ApiError."""
    if "guard" not in call.values:
        return None
    if "confirm" not in call.values:
        raise ApiError(400, "guard in query rolls back a change that waits for its confirmation: send confirm with it")
    try:
        return read_guard(call.get("guard"))
    except ValueError as error:
        raise ApiError(400, f"guard in query: {error}") from None


@asynccontextmanager
async def _confirmation(call: Call, guard: Guard | None) -> AsyncIterator[CallAuthor]:
    """Enter the author of what the call changes: of a confirmation, if the call asks for one."""
    if "confirm" in call.values:
        call.exchange.answer_within(ANSWER_SECONDS)
        async with call.services.confirmations.opened(call.author, call.get("confirm"), guard) as author:
            yield author
    else:
        yield call.author


async def _waited(call: Call, response: Response, seconds: float | None) -> Response:
    """Return the response, or that of a live change once the reload that it names has succeeded. Raise ReloadFailed.

    The wait ends early when the client disconnects. The change has been made, so the response is the same as when the time is over.
    """
    reload_id = next((value.decode() for name, value in response.raw_headers if name == RELOAD_ID), None)
    if seconds is None or reload_id is None or response.status_code != 202:
        return response
    call.exchange.answer_within(seconds + ANSWER_SECONDS)
    gone = asyncio.Event()
    call.exchange.when_gone = gone.set
    try:
        record = await _ended(call, reload_id, time.monotonic() + seconds, gone)
    finally:
        call.exchange.when_gone = None
    if record.status == FAILED and not record.keeps_those_of(call.author.request_id):
        raise ReloadFailed(record.failure)
    if record.status == IN_PROGRESS:
        return response
    response.raw_headers = [header for header in response.raw_headers if header[0] != RELOAD_ID]
    response.status_code = call.operation.in_effect
    return response if response.status_code != 204 else empty(204, _own(response))


def _with_failing(call: Call, response: Response) -> Response:
    """Adds the names of tests that failed before the change, and still fail, to the response."""
    request = call.author.request
    if request and request.failing_tests:
        named = [quote(name, safe=" /:,") for name in request.failing_tests[:MOST_NAMED]]
        more = [f"and {len(request.failing_tests) - MOST_NAMED} more"] if len(request.failing_tests) > MOST_NAMED else []
        response.raw_headers.append((FAILING, "; ".join([*named, *more]).encode()))
    return response


def _own(response: Response) -> list[tuple[bytes, bytes]]:
    """Its headers, without those of a body."""
    return [header for header in response.raw_headers if header[0].lower() not in (b"content-type", b"content-length")]


async def _ended(call: Call, reload_id: str, deadline: float, gone: asyncio.Event) -> Record:
    """Return the record of the reload when it has ended, the deadline is over or the client is gone.

    If the reload took back another change, return the record of the reload that loads this call's change.
    """
    while (record := call.services.records.get(reload_id)).status == IN_PROGRESS and time.monotonic() < deadline and not gone.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(gone.wait(), LOOK_SECONDS)
    if record.rest_reload_id and record.keeps_those_of(call.author.request_id):
        return await _ended(call, record.rest_reload_id, deadline, gone)
    return record
