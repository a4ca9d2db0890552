"""The middleware around the application: request id, access log, counters, headers of every response, other sites, authentication.

`KeptReplies` does the same for a request that is answered before HTTP is parsed.
"""

import contextvars
import itertools
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from dataplaneapi.api import asked, change_author, cors
from dataplaneapi.api.errors import error_response, response_to
from dataplaneapi.api.exchange import REQUEST_ID, Exchange
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.responses import CONFIGURATION_VERSION, Header, Response, protection
from dataplaneapi.api.services import Services
from dataplaneapi.server import connection
from dataplaneapi.server.acceptor import PROBE_PATHS
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
# What an access line may tell of a request, beside the peers of its connection.
_REQUEST = ("type", "http_version", "method", "path", "raw_path", "query_string", "headers")
_LOGGED = (*_REQUEST, "connection", "operation", "request_id", "author")


class KeptReplies:
    """Replies to whole requests, and the ids of all requests."""

    def __init__(self, services: Services) -> None:
        self.services, self.replies = services, Replies()
        self._prefix, self._numbers = os.urandom(4).hex(), itertools.count(1)

    def next_id(self) -> str:
        return f"{self._prefix}-{next(self._numbers):x}"

    def keep(self, scope: Scope, exchange: Exchange) -> None:
        """Keeps the reply to a request whose response is cacheable, where it arrived as one packet."""
        response: Response | None = scope.get("response")
        if response and response.cacheable and not self.services.traces and (recording := scope.get("recording")):
            request = {name: scope[name] for name in _LOGGED}
            generation = self.services.users.generation
            self.replies.keep(recording, scope["document"], version_of(self.services, scope), generation, request, exchange.finished())

    def address(self, scope: Scope) -> str:
        """Returns the client's address, on which access and limits depend."""
        return self.services.proxies.client(connection.peer(scope), scope["headers"])

    def tell(self, scope: Scope, exchange: Exchange) -> None:
        """Sends the event of a request that was answered."""
        if self.services.audit.reads and "operation" in scope and "path_params" not in scope:
            # The answer was kept, and no operation was looked for.
            operation, values = self.services.index.find(scope["method"], scope["raw_path"])
            asked.note(scope["author"], operation_of(scope), operation, values, self.services, scope["query_string"])
        if event := asked.event(scope, exchange.headers, exchange.status, reads=self.services.audit.reads):
            self.services.engine.context.events.tell(event)

    def _tell_kept(self, scope: Scope, exchange: Exchange) -> None:
        origin.set({"request_id": scope["request_id"], **trace_context.fields(exchange.headers.get(b"traceparent"))})
        scope["author"] = change_author.of(scope, exchange.headers, self.services.gate, self.services.roles)
        self.tell(scope, exchange)

    def reply(self, packet: bytes, over: connection.Connection, peers: Mapping[str, Any], date: bytes) -> bytes | None:
        """What is sent for a whole request that was answered before; None where the application has to answer it."""
        began = time.perf_counter()
        stored, engine = self.replies.get(packet), self.services.engine
        if stored is None or not stored.holds(over, engine.read(None), engine.version(), self.services.users.generation):
            return None
        authorization = stored.exchange.headers.get(b"authorization", b"")
        scope = {**stored.scope, **peers}
        scope["address"] = self.address(scope)
        if over.endpoint.basic_auth and not self.services.gate.admits_at_once(authorization, scope["address"]):
            return None
        request_id = self.next_id()
        seconds = time.perf_counter() - began
        self.services.tally.answered(operation_of(stored.scope), stored.exchange.status, seconds)
        scope["request_id"] = request_id
        if access_logger.isEnabledFor(logging.INFO):
            contextvars.copy_context().run(_log_as, scope, stored.exchange.again(request_id), seconds)
        if self.services.audit.reads:
            contextvars.copy_context().run(self._tell_kept, scope, stored.exchange)
        return stored.at(date, request_id.encode())


class RequestMiddleware:
    """`page` returns the public page at a path, or None."""

    def __init__(self, app: ASGIApp, services: Services, page: Callable[[Scope], Response | None], kept: KeptReplies) -> None:
        self._app, self._services, self._page, self._kept = app, services, page, kept
        # One pool for each listener, since each has a limit of its own.
        self._requests = defaultdict[Any, Pool](lambda: Pool("requests under way (listen_limit)"))
        self._bodies = Pool("bytes in bodies of requests under way")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["request_id"], scope["address"] = self._kept.next_id(), self._kept.address(scope)
        exchange = Exchange(scope, send, lambda exchange: self._common(scope, exchange))
        fields, traces = trace_context.fields(exchange.headers.get(b"traceparent")), self._services.traces
        if traces:
            fields |= traces.begin(scope["method"], fields)
        origin.set({"request_id": scope["request_id"], **fields})
        try:
            refusal = await self._refusal(scope, exchange)
            if not refusal and not is_public(scope):
                scope["author"] = change_author.of(scope, exchange.headers, self._services.gate, self._services.roles)
            endpoint = connection.of(scope).endpoint
            caller = Caller.of(scope.get("author"))
            with self._requests[endpoint.place].hold(caller) as requests, self._bodies.hold(caller) as scope["bodies"]:
                if not refusal:
                    requests.add(1, endpoint.limit)
                await (refusal or self._app)(scope, receive, exchange.send)
        except ShareExceeded as error:
            await response_to(error)(scope, receive, exchange.send)
        except Exception as error:
            logger.exception("request %s %s failed", scope["method"], scope["path"])
            if not exchange.status:
                await response_to(error)(scope, receive, exchange.send)
        if response := scope.get("response"):
            exchange.size += response.written
        seconds = time.perf_counter() - exchange.began
        self._services.tally.answered(operation_of(scope), exchange.status, seconds)
        if traces:
            traces.end(operation_of(scope), exchange.status)
        if access_logger.isEnabledFor(logging.INFO):
            _log(scope, exchange, seconds)
        self._kept.tell(scope, exchange)
        self._kept.keep(scope, exchange)

    async def _refusal(self, scope: Scope, exchange: Exchange) -> Response | None:
        """The response to a request that does not reach the application: a browser's preflight, another site's, one without credentials."""
        if (over := connection.of(scope)).refused:
            return error_response(403, over.refused)
        origins = self._services.settings.cors_origins
        if (refusal := cors.preflight(scope, exchange.headers, origins) or cors.refusal(scope, exchange.headers, origins)) is not None:
            return refusal
        scope["page"] = self._page(scope)
        if is_public(scope):
            return None
        authorization, gate, address = exchange.headers.get(b"authorization", b""), self._services.gate, connection.address(scope)
        known = not over.endpoint.basic_auth or gate.admits_at_once(authorization, address)
        if not known and (refusal := await gate.refusal(authorization, address)) is not None:
            return refusal
        exchange.authenticated = over.endpoint.basic_auth
        return None

    def _common(self, scope: Scope, exchange: Exchange) -> list[Header]:
        common = [
            (REQUEST_ID, scope["request_id"].encode()),
            (CONFIGURATION_VERSION, b"%d" % version_of(self._services, scope)),
            *cors.headers(scope, exchange.headers, self._services.settings.cors_origins),
            *scope.get("ignored", ()),
            *protection(exchange.sent_headers),
        ]
        return common if connection.of(scope).endpoint.keep_alive else [*common, CLOSE]


def is_public(scope: Scope) -> bool:
    """Whether a request needs no credentials; the middleware has looked for a page before."""
    return scope["path"] in PROBE_PATHS or scope["page"] is not None


def version_of(services: Services, scope: Scope) -> int:
    """Returns the version of the transaction that the request names, 0 if that is not in progress; else the current version."""
    query = scope["query_string"]
    named = query_values(query).get("transaction_id", [""])[0] if b"transaction_id=" in query else ""
    return services.engine.version(named or None)


def _log_as(scope: Scope, exchange: Exchange, seconds: float) -> None:
    origin.set({"request_id": scope["request_id"], **trace_context.fields(exchange.headers.get(b"traceparent"))})
    _log(scope, exchange, seconds)


def _log(scope: Scope, exchange: Exchange, seconds: float) -> None:
    client = {"client": name} if (name := connection.of(scope).name) else {}
    access_logger.info("request", extra={"request": (scope, exchange, seconds), "fields": client})


def operation_of(scope: Scope) -> str:
    operation = scope.get("operation")
    return operation.id if operation else tally.NO_OPERATION
