"""Record every request (object, counter, access line, span, event), and add the headers that every response has.

A commit publishes its own event (native/haproxy_native/commit/events.py). This module publishes an event for a request without a commit: a
refusal before the commit, an edit of a transaction, a confirmation, a change of tokens, a failed login, and a read if the audit log
includes reads.
"""

import json
import logging
import time
from collections.abc import Mapping
from typing import Any

from dataplaneapi.api import cors
from dataplaneapi.api.call import Call
from dataplaneapi.api.exchange import REQUEST_ID, Exchange, Next
from dataplaneapi.api.operations import READS, Handler
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.place import object_of, parent_in_query
from dataplaneapi.api.responses import CONFIGURATION_VERSION, Header, Response, protection
from dataplaneapi.api.services import Services
from dataplaneapi.auth.gate import parse_basic
from dataplaneapi.telemetry import counters as tally
from dataplaneapi.telemetry import trace_context
from dataplaneapi.telemetry.log import ACCESS
from haproxy_native.commit.events import CHANGE, FAILED, GRANTED, LIMITED, LOGIN, READ, REFUSED, RequestAnswered
from haproxy_native.request_context import Author, Request, origin

LONGEST_LOGIN = 64
CLOSE = (b"connection", b"close")
access_logger = logging.getLogger(ACCESS)


class RequestLog:
    """The layer that records each request, after it has sent the response. It does not send a response that a layer below has sent."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, exchange: Exchange, next: Next) -> Response:
        fields, traces = trace_context.fields(exchange.headers.get(b"traceparent")), self._services.traces
        if traces:
            fields |= traces.begin(exchange.method, fields)
        origin.set({"request_id": exchange.request_id, **fields})
        response = await next(exchange)
        if not exchange.status:
            await exchange.respond(response)
        seconds = time.perf_counter() - exchange.began
        self._services.tally.answered(operation_of(exchange), exchange.status, seconds)
        if traces:
            traces.end(operation_of(exchange), exchange.status)
        if access_logger.isEnabledFor(logging.INFO):
            write_access_line(exchange, seconds)
        publish_event(exchange, self._services)
        return response


def write_access_line(exchange: Exchange, seconds: float) -> None:
    """Write the access line of an answered request."""
    client = {"client": name} if (name := exchange.connection.name) else {}
    access_logger.info("request", extra={"request": (exchange, seconds), "fields": client})


def publish_event(exchange: Exchange, services: Services) -> None:
    """Publish the event of an answered request, unless `event_of` returns none."""
    if services.audit.reads and exchange.operation and exchange.path_values is None:
        # The response was cached, so `Route` has not recorded the object.
        _, values = services.index.find(exchange.method, exchange.raw_path)
        note_object(exchange, values, services)
    if event := event_of(exchange, reads=services.audit.reads):
        services.engine.context.events.publish(event)


def event_of(exchange: Exchange, *, reads: bool) -> RequestAnswered | None:
    """Return the event of an answered request.

    Return None for a public path, if a commit has published an event for the request, and for a read unless `reads`.
    """
    author, operation = exchange.author, exchange.operation
    if author is None or author.request is None:
        return _login(exchange)
    if operation is None or author.request.is_recorded:
        return None
    is_reading = operation.is_read(exchange.query) or exchange.is_replayed
    if is_reading and not reads:
        return None
    return RequestAnswered(author, outcome_of(exchange.status), reason_of(exchange), READ if is_reading else CHANGE)


def _login(exchange: Exchange) -> RequestAnswered | None:
    """Return the event of refused credentials, or None if none were refused.

    A refused request without credentials is no event, because most browsers first send a request without credentials.
    """
    if exchange.status not in (401, 429) or not (authorization := exchange.headers.get(b"authorization")):
        return None
    credentials = parse_basic(authorization)
    name = credentials[0][:LONGEST_LOGIN] if credentials else ""
    author = Author(address=exchange.address, request_id=exchange.request_id, request=Request(exchange.raw_path.decode("latin-1")))
    return RequestAnswered(author, LIMITED if exchange.status == 429 else REFUSED, reason_of(exchange), LOGIN, name)


def outcome_of(status: int) -> str:
    """Return the outcome of a request with this status. Status 0 means that the request got no answer, so it has failed."""
    return FAILED if status < 100 or status >= 500 else REFUSED if status >= 400 else GRANTED


def reason_of(exchange: Exchange) -> str:
    """Return the message of an error response, or its status as text if it has no message. Return an empty text for other responses."""
    if exchange.status < 400 or exchange.response is None:
        return ""
    try:
        return str(json.loads(bytes(exchange.response.body))["message"])
    except (ValueError, KeyError, TypeError):
        return str(exchange.status)


def note_object(exchange: Exchange, values: Mapping[str, Any], services: Services) -> None:
    """Record the operation of a request, and the object that its path and query name, for the history and the audit log."""
    operation = exchange.operation
    if operation and exchange.author and (request := exchange.author.request):
        request.operation = exchange.operation_id
        if operation.method not in READS or services.audit.reads:
            request.object = object_of(operation, {**values, **parent_in_query(operation, exchange.query, services.editor)}, services)


async def note_created(call: Call, next: Handler) -> Response:
    """Record the object that a call creates, which only the body names, and pass on the call."""
    if object_ := object_of(call.operation, call.values, call.services, call.body):
        note_name(call, object_)
    return await next(call)


def note_name(call: Call, object_: str) -> None:
    """Record the object of a call whose name only the handler knows, such as the id of a new token."""
    if request := call.author.request:
        request.object = object_


def common_headers(services: Services, exchange: Exchange) -> list[Header]:
    """Return the headers that every response has in addition to its own."""
    common = [
        (REQUEST_ID, exchange.request_id.encode()),
        (CONFIGURATION_VERSION, b"%d" % version_of(services, exchange)),
        *cors.headers(exchange, services.settings.cors_origins),
        *exchange.ignored,
        *protection(exchange.sent_headers),
    ]
    return common if exchange.connection.endpoint.keep_alive else [*common, CLOSE]


def version_of(services: Services, exchange: Exchange) -> int:
    """Return the version of the transaction that the query names, or 0 if that transaction is not in progress.

    If the query names no transaction, return the current version.
    """
    query = exchange.query
    transaction = query_values(query).get("transaction_id", [""])[0] if b"transaction_id=" in query else ""
    return services.engine.version(transaction or None)


def operation_of(exchange: Exchange) -> str:
    """Return the operation id under which the request is counted, or NO_OPERATION if it has no operation."""
    return exchange.operation_id or tally.NO_OPERATION
