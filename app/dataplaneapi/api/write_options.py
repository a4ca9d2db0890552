"""Serve the query parameters that every write accepts: `wait`, which waits for the reload, and the options that features add."""

import asyncio
import time
from contextlib import suppress
from functools import partial

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.feature import WriteOption
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import RELOAD_ID, Response, empty
from haproxy_native.errors import ReloadFailed
from haproxy_native.reload.records import FAILED, IN_PROGRESS, ReloadRecord

POLL_SECONDS = 0.05
# Seconds. The time limit of the answer is `wait` plus this.
ANSWER_SECONDS = 30.0


async def serve_write_options(call: Call, next: Handler) -> Response:
    """Serve a write with the options that the call has. Raises ApiError if an option is invalid in the call."""
    used = [option for option in call.services.write_options if option.is_asked(call)]
    if not used:
        return await next(call)
    check_options(call)
    for option in reversed(used):
        next = partial(option.serve, next=next)
    return await next(call)


def check_options(call: Call) -> None:
    """Raise ApiError if an option is invalid in this call."""
    options = call.services.write_options
    if call.query.transaction_id and (names := [name for option in options for name in option.of_commits(call)]):
        raise ApiError(400, f"{names[0]} belongs to the commit of a transaction: send it with the PUT that commits it")
    for option in options:
        option.check(call)


class Wait(WriteOption):
    """The option `wait`: answer a write after its reload has ended."""

    names = ("wait",)

    async def serve(self, call: Call, next: Handler) -> Response:
        """Make the write, and wait for its reload for at most `wait` seconds. Raises ReloadFailed.

        If the reload succeeds in time, the status is that of a change in effect, not 202. If the client disconnects, stop waiting as after
        a timeout, because the change has been made.
        """
        response, seconds = await next(call), call.query.wait or 0.0
        reload_ids = [value.decode() for name, value in response.raw_headers if name == RELOAD_ID]
        if not reload_ids or response.status_code != 202:
            return response
        call.exchange.answer_within(seconds + ANSWER_SECONDS)
        disconnected = asyncio.Event()
        call.exchange.when_gone = disconnected.set
        try:
            record = await _wait_for_reload(call, reload_ids[0], time.monotonic() + seconds, disconnected)
        finally:
            call.exchange.when_gone = None
        if record.status == FAILED and not record.keeps_those_of(call.author.request_id):
            raise ReloadFailed(record.failure, reload_id=record.id)
        if record.status == IN_PROGRESS:
            return response
        headers = [header for header in response.raw_headers if header[0] != RELOAD_ID]
        if call.operation.in_effect == 204:
            return empty(204, [header for header in headers if header[0].lower() not in (b"content-type", b"content-length")])
        response.status_code, response.raw_headers = call.operation.in_effect, headers
        return response


async def _wait_for_reload(call: Call, reload_id: str, deadline: float, disconnected: asyncio.Event) -> ReloadRecord:
    """Wait until the reload has ended, the deadline has passed or the client has disconnected. Return the record of the reload.

    A failed reload may have rolled back only the changes of others. Then wait for the reload that applies the change of this call.
    """
    record = call.services.records.get(reload_id)
    while record.status == IN_PROGRESS and time.monotonic() < deadline and not disconnected.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(disconnected.wait(), POLL_SECONDS)
        record = call.services.records.get(reload_id)
    if record.rest_reload_id and record.keeps_those_of(call.author.request_id):
        return await _wait_for_reload(call, record.rest_reload_id, deadline, disconnected)
    return record
