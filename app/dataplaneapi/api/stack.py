"""List the layers that a request passes through before and after FastAPI, in order, and build the stack of them.

`around_fastapi` lists the layers of a request, outermost first. The arguments of a layer are the exchange and the next layer. It returns
the response of the next layer, or its own. `RequestLog` sends the response that it receives, unless `Shares` has sent it. `Shares` does so
because a stream counts against the limits of its caller until it ends.

Inside these layers FastAPI creates the `Call` that the handler of the operation declares (api/call.py). `AROUND_HANDLERS` lists the layers
of a call, outermost first.

Exceptions from a handler and from the layers of a call are answered by FastAPI's exception handlers (api/application.py). Exceptions from
the layers of a request are answered by the layer `answer_errors`. Both use the table of api/errors.py.
"""

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dataplaneapi.api import cors
from dataplaneapi.api.access import answer_within_rights, require_role
from dataplaneapi.api.authenticate import Shares, authenticate
from dataplaneapi.api.call import Call
from dataplaneapi.api.conflicts import explain_collisions
from dataplaneapi.api.errors import ApiError, error_response, response_to
from dataplaneapi.api.exchange import Exchange, Layer, Next, exchange_of, peer
from dataplaneapi.api.operations import READS, Handler, Operation
from dataplaneapi.api.place import with_known_names
from dataplaneapi.api.request_log import RequestLog, common_headers, note_created, note_object
from dataplaneapi.api.response_cache import ReplyCache, ResponseCache, answer_from_cache
from dataplaneapi.api.responses import RESPONSE, Response
from dataplaneapi.api.services import Services
from dataplaneapi.api.write_options import serve_write_options
from dataplaneapi.server.connection import EXCHANGE
from haproxy_native.abandonment import abandonable
from haproxy_native.disk.file import drafts_aside
from haproxy_native.errors import READ_ONLY, Forbidden, NativeError
from haproxy_native.shares import Account

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


class CallLayer(Protocol):
    """A layer that calls pass through on the way to their handler. It returns the response of the next layer, or its own."""

    async def __call__(self, call: Call, next: Handler) -> Response: ...


class OperationRoute(APIRoute):
    """The route of an operation. FastAPI analyses the route when the operation is called for the first time.

    FastAPI normally analyses the dependencies of a path function when it creates a route. At the start that would take 0.4 ms for each of
    more than 800 operations.
    """

    app: Any

    def __init__(self, operation: Operation) -> None:
        self.operation, self.app = operation, None
        self.path, self.methods, self.tags = operation.path, {operation.method}, [operation.tag]

    def load_app(self) -> ASGIApp:
        """Return the ASGI application that serves the operation. The first call is slower, because FastAPI analyses the handler."""
        if self.app is None:
            handler = with_layers(self.operation)
            super().__init__(self.path, handler, methods=[self.operation.method], tags=self.tags, response_model=None)
        app: ASGIApp = self.app
        return app


Routes = Mapping[Operation, OperationRoute]


def around_fastapi(services: Services, reply_cache: ReplyCache, cache: ResponseCache, routes: Routes) -> Sequence[Layer]:
    """Return the layers of a request, outermost first."""
    return (
        reply_cache,
        RequestLog(services),
        answer_errors,
        check_certificate,
        partial(cors.check_origin, services),
        partial(answer_public_paths, services),
        partial(authenticate, services),
        Shares(),
        partial(answer_from_cache, services, cache),
        Route(services, routes),
        check_role,
        abandon_reads,
        partial(refuse_writes, services),
        services.idempotency,
    )


# The layers of a call, outermost first. The predicate selects the operations whose calls pass through the layer.
AROUND_HANDLERS: Sequence[tuple[CallLayer, Callable[[Operation], bool]]] = (
    (note_created, lambda operation: operation.method == "POST" and bool(operation.resource)),
    (answer_within_rights, lambda operation: True),
    (serve_write_options, lambda operation: operation.method != "GET"),
    (explain_collisions, lambda operation: operation.method != "GET"),
)


class Stack:
    """The layers of a request, as the one middleware of FastAPI."""

    def __init__(self, app: ASGIApp, services: Services, reply_cache: ReplyCache, cache: ResponseCache, routes: Routes) -> None:
        self._app, self._services, self._reply_cache = app, services, reply_cache
        self._serve: Next = self._in_fastapi
        for layer in reversed(around_fastapi(services, reply_cache, cache, routes)):
            self._serve = partial(layer, next=self._serve)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = scope[EXCHANGE] = Exchange(scope, receive, send, partial(common_headers, self._services))
        exchange.request_id = self._reply_cache.next_id()
        exchange.address = self._services.proxies.client(peer(exchange.client), exchange.raw_headers)
        try:
            await self._serve(exchange)
        finally:
            # The connection refers to the scope, and the scope to the exchange, which otherwise stays in memory until the next request.
            exchange.finish()

    async def _in_fastapi(self, exchange: Exchange) -> Response:
        capture = ResponseCapture()
        await self._app(exchange.scope, exchange.receive, capture.receive)
        return capture.response


class ResponseCapture:
    """A receiver of ASGI messages: its method `receive` is the `send` function of FastAPI, and stores the response that FastAPI sends."""

    response: Response

    async def receive(self, message: Message) -> None:
        assert message["type"] == RESPONSE
        self.response = message["response"]


async def answer_errors(exchange: Exchange, next: Next) -> Response:
    """Answer exceptions: known errors by the table of api/errors.py, and any other exception with a 500 after logging it."""
    try:
        return await next(exchange)
    except (ApiError, NativeError) as error:
        return response_to(error)
    except Exception as error:
        logger.exception("request %s %s failed", exchange.method, exchange.path)
        return response_to(error)


async def check_certificate(exchange: Exchange, next: Next) -> Response:
    """Refuse a client whose certificate has no permitted name (403)."""
    refused = exchange.connection.refused
    return error_response(403, refused) if refused else await next(exchange)


async def answer_public_paths(services: Services, exchange: Exchange, next: Next) -> Response:
    """Answer requests that need no credentials, such as probes and public pages."""
    for answer in services.public:
        if answered := answer(exchange):
            return answered if isinstance(answered, Response) else await answered
    return await next(exchange)


class Route:
    """The layer that finds the operation of a request, and its route."""

    def __init__(self, services: Services, routes: Routes) -> None:
        self._services, self._routes = services, routes

    async def __call__(self, exchange: Exchange, next: Next) -> Response:
        """Find the operation, and record the object that it is for. Raises ApiError (404 or 405) if no operation matches."""
        operation, values = self._services.index.find(exchange.method, exchange.raw_path, exchange.query)
        values = with_known_names(operation, values, self._services)
        exchange.operation, exchange.path_values = operation, values
        note_object(exchange, values, self._services)
        exchange.route = self._routes[operation].load_app()
        return await next(exchange)


class RouteOfExchange(BaseRoute):
    """The only route that FastAPI's router tries. It passes a request on to the route of its operation, which `Route` has found."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["type"] == "http" else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = exchange_of(scope).route
        assert route is not None
        await route(scope, receive, send)


def with_layers(operation: Operation) -> Handler:
    """Return the handler of an operation, wrapped in the layers that its calls pass through."""
    serve = handler = operation.handler
    for layer, is_for in reversed(AROUND_HANDLERS):
        if is_for(operation):
            serve = partial(layer, next=serve)

    @functools.wraps(handler)
    async def within_layers(call: Call) -> Response:
        return await serve(call)

    return within_layers


async def check_role(exchange: Exchange, next: Next) -> Response:
    """Refuse a caller without a role. Raises Forbidden."""
    assert exchange.author is not None
    require_role(exchange.author, exchange.matched)
    return await next(exchange)


async def abandon_reads(exchange: Exchange, next: Next) -> Response:
    """Pass on a request. If the request changes nothing, and its client disconnects, cancel the request."""
    work = next(exchange)
    return await (while_connected(exchange, work) if exchange.matched.is_read(exchange.query) else work)


async def while_connected(exchange: Exchange, work: Awaitable[Result]) -> Result:
    """Return the result of the work. If the client disconnects first, cancel the work and end its computations in threads.

    Raises the exceptions of the work. Raises ApiError (400) if the client disconnects first.
    """
    task = asyncio.current_task()
    assert task
    with abandonable(Account.from_author(exchange.author)) as flag:

        def leave() -> None:
            # A second cancellation would interrupt the cleanup that the first one has started.
            if not flag.is_set():
                flag.set()
                task.cancel()

        exchange.when_gone = leave
        try:
            return await work
        except asyncio.CancelledError:
            if not flag.is_set() or task.uncancel():
                raise
        finally:
            exchange.when_gone = None
    raise ApiError(400, "the client disconnected before the answer was ready")


async def refuse_writes(services: Services, exchange: Exchange, next: Next) -> Response:
    """Refuse writes on a read-only server, before they are validated. Pass on reads and dry runs. Raises Forbidden."""
    if not services.settings.read_only:
        return await next(exchange)
    operation = exchange.matched
    if operation.writes and not operation.is_dry(exchange.query):
        raise Forbidden(READ_ONLY)
    async with drafts_aside(wanted=operation.method not in READS):
        return await next(exchange)
