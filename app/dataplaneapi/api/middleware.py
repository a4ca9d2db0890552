"""The middleware around the application: request id, access log, counters, headers of every response, other sites, authentication.

`KeptReplies` does the same for a request that is answered before HTTP is parsed.
"""

import contextvars
import itertools
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from dataplaneapi.api import asked, change_author, cors
from dataplaneapi.api.errors import error_response, response_to
from dataplaneapi.api.exchange import REQUEST_ID, Exchange, Peer, peer
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.responses import CONFIGURATION_VERSION, Header, Response, protection
from dataplaneapi.api.services import Services
from dataplaneapi.server.acceptor import PROBE_PATHS
from dataplaneapi.server.connection import EXCHANGE, Connection
from dataplaneapi.server.replies import Replies
from dataplaneapi.telemetry import counters as tally
from dataplaneapi.telemetry import trace_context
from dataplaneapi.telemetry.log import ACCESS
from haproxy_native.errors import ShareExceeded
from haproxy_native.request_context import origin
from haproxy_native.shares import Caller, Pool

CLOSE = (b"connection", b"close")
logger = logging.getLogger(__name__)
access_logger = logging.getLogger(ACCESS)


class KeptReplies:
    """Replies to whole requests, and the ids of all requests."""

    def __init__(self, services: Services) -> None:
        self.services, self.replies = services, Replies()
        self._prefix, self._numbers = os.urandom(4).hex(), itertools.count(1)

    def next_id(self) -> str:
        return f"{self._prefix}-{next(self._numbers):x}"

    def keep(self, exchange: Exchange) -> None:
        """Keeps the reply to a request whose response is cacheable, where it arrived as one packet."""
        if exchange.response and exchange.response.cacheable and not self.services.traces and exchange.recording:
            version, generation = version_of(self.services, exchange), self.services.users.generation
            self.replies.keep(exchange.recording, exchange.document, version, generation, exchange)

    def tell(self, exchange: Exchange) -> None:
        """Sends the event of a request that was answered."""
        if self.services.audit.reads and exchange.operation and exchange.path_values is None:
            # The answer was kept, and no operation was looked for.
            _, values = self.services.index.find(exchange.method, exchange.raw_path)
            asked.note(exchange, values, self.services)
        if event := asked.event(exchange, reads=self.services.audit.reads):
            self.services.engine.context.events.tell(event)

    def _tell_kept(self, exchange: Exchange) -> None:
        origin.set({"request_id": exchange.request_id, **trace_context.fields(exchange.headers.get(b"traceparent"))})
        exchange.author = change_author.of(exchange, self.services.gate, self.services.roles)
        self.tell(exchange)

    def reply(self, packet: bytes, over: Connection, client: Peer, server: Peer, date: bytes) -> bytes | None:
        """What is sent for a whole request that was answered before; None where the application has to answer it."""
        began = time.perf_counter()
        stored, engine = self.replies.get(packet), self.services.engine
        if stored is None or not stored.holds(over, engine.read(None), engine.version(), self.services.users.generation):
            return None
        authorization = stored.exchange.headers.get(b"authorization", b"")
        address = self.services.proxies.client(peer(client), stored.exchange.raw_headers)
        if over.endpoint.basic_auth and not self.services.gate.admits_at_once(authorization, address):
            return None
        request_id = self.next_id()
        seconds = time.perf_counter() - began
        self.services.tally.answered(operation_of(stored.exchange), stored.exchange.status, seconds)
        if access_logger.isEnabledFor(logging.INFO):
            contextvars.copy_context().run(_log_as, stored.exchange.again(request_id, client, server, address), seconds)
        if self.services.audit.reads:
            contextvars.copy_context().run(self._tell_kept, stored.exchange.again(request_id, client, server, address))
        return stored.at(date, request_id.encode())


class RequestMiddleware:
    """`page` returns the public page at a path, or None."""

    def __init__(self, app: ASGIApp, services: Services, page: Callable[[Exchange], Response | None], kept: KeptReplies) -> None:
        self._app, self._services, self._page, self._kept = app, services, page, kept
        # One pool for each listener, since each has a limit of its own.
        self._requests = defaultdict[Any, Pool](lambda: Pool("requests under way (listen_limit)"))
        self._bodies = Pool("bytes in bodies of requests under way")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = scope[EXCHANGE] = Exchange(scope, receive, send, self._common)
        exchange.request_id = self._kept.next_id()
        exchange.address = self._services.proxies.client(peer(exchange.client), exchange.raw_headers)
        try:
            await self._serve(exchange, scope)
        finally:
            # The scope holds it, and the connection the scope.
            exchange.finish()

    async def _serve(self, exchange: Exchange, scope: Scope) -> None:
        fields, traces = trace_context.fields(exchange.headers.get(b"traceparent")), self._services.traces
        if traces:
            fields |= traces.begin(exchange.method, fields)
        origin.set({"request_id": exchange.request_id, **fields})
        try:
            refusal = await self._refusal(exchange)
            if not refusal and not is_public(exchange):
                exchange.author = change_author.of(exchange, self._services.gate, self._services.roles)
            endpoint, caller = exchange.connection.endpoint, Caller.of(exchange.author)
            with self._requests[endpoint.place].hold(caller) as requests, self._bodies.hold(caller) as exchange.held:
                if not refusal:
                    requests.add(1, endpoint.limit)
                await (refusal or self._app)(scope, exchange.receive, exchange.send)
        except ShareExceeded as error:
            await exchange.respond(response_to(error))
        except Exception as error:
            logger.exception("request %s %s failed", exchange.method, exchange.path)
            if not exchange.status:
                await exchange.respond(response_to(error))
        seconds = time.perf_counter() - exchange.began
        self._services.tally.answered(operation_of(exchange), exchange.status, seconds)
        if traces:
            traces.end(operation_of(exchange), exchange.status)
        if access_logger.isEnabledFor(logging.INFO):
            _log(exchange, seconds)
        self._kept.tell(exchange)
        self._kept.keep(exchange)

    async def _refusal(self, exchange: Exchange) -> Response | None:
        """The response to a request that does not reach the application: a browser's preflight, another site's, one without credentials."""
        if (over := exchange.connection).refused:
            return error_response(403, over.refused)
        origins = self._services.settings.cors_origins
        if (refusal := cors.preflight(exchange, origins) or cors.refusal(exchange, origins)) is not None:
            return refusal
        exchange.page = self._page(exchange)
        if is_public(exchange):
            return None
        authorization, gate, address = exchange.headers.get(b"authorization", b""), self._services.gate, exchange.address
        known = not over.endpoint.basic_auth or gate.admits_at_once(authorization, address)
        if not known and (refusal := await gate.refusal(authorization, address)) is not None:
            return refusal
        exchange.authenticated = over.endpoint.basic_auth
        return None

    def _common(self, exchange: Exchange) -> list[Header]:
        common = [
            (REQUEST_ID, exchange.request_id.encode()),
            (CONFIGURATION_VERSION, b"%d" % version_of(self._services, exchange)),
            *cors.headers(exchange, self._services.settings.cors_origins),
            *exchange.ignored,
            *protection(exchange.sent_headers),
        ]
        return common if exchange.connection.endpoint.keep_alive else [*common, CLOSE]


def is_public(exchange: Exchange) -> bool:
    """Whether a request needs no credentials; the middleware has looked for a page before."""
    return exchange.path in PROBE_PATHS or exchange.page is not None


def version_of(services: Services, exchange: Exchange) -> int:
    """Returns the version of the transaction that the request names, 0 if that is not in progress; else the current version."""
    query = exchange.query
    named = query_values(query).get("transaction_id", [""])[0] if b"transaction_id=" in query else ""
    return services.engine.version(named or None)


def _log_as(exchange: Exchange, seconds: float) -> None:
    origin.set({"request_id": exchange.request_id, **trace_context.fields(exchange.headers.get(b"traceparent"))})
    _log(exchange, seconds)


def _log(exchange: Exchange, seconds: float) -> None:
    client = {"client": name} if (name := exchange.connection.name) else {}
    access_logger.info("request", extra={"request": (exchange, seconds), "fields": client})


def operation_of(exchange: Exchange) -> str:
    return exchange.operation_id or tally.NO_OPERATION
