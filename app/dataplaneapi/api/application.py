"""The application: FastAPI, inside one middleware of ours, with one route that asks the index of operations.

FastAPI tries its routes one by one, the index costs the same for every path; the APIRoute of an operation is made when it is first called.
A handler is a path function; the annotation of its parameter (`ReadCall`, `JsonCall`, ...) is a dependency, which makes the call.
"""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Lifespan, Receive, Scope, Send

from dataplaneapi.api import probes
from dataplaneapi.api.dispatch import Dispatch
from dataplaneapi.api.errors import ApiError, error_response, response_to
from dataplaneapi.api.exchange import Exchange, exchange_of
from dataplaneapi.api.middleware import KeptReplies, RequestMiddleware, is_public
from dataplaneapi.api.response_cache import ResponseCache
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.version import VERSION
from haproxy_native.errors import NativeError

Page = Callable[[Exchange], Response | None]


class Application(FastAPI):
    """Serves the operations of `services.index` to users, probes and what `page` returns to everyone."""

    def __init__(self, services: Services, page: Page, lifespan: "Lifespan[Application] | None" = None) -> None:
        super().__init__(
            title=services.bundle["info"]["title"],
            version=VERSION,
            openapi_url=None,
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
            lifespan=lifespan,
            exception_handlers=HANDLERS,
            telemetry={"tracing": False, "metrics": False, "logs": False},
        )
        self.services, self.dispatch = services, Dispatch(services)
        self.kept = KeptReplies(services)
        self.reply = self.kept.reply
        self.add_middleware(RequestMiddleware, services=services, page=page, kept=self.kept)
        self.router.routes[:] = [PublicRoute(services), OperationRoute(services, self.dispatch)]

    def openapi(self) -> dict[str, Any]:
        """The document that declares the operations."""
        return dict(self.services.bundle)


class PublicRoute(BaseRoute):
    """What needs no credentials: the pages that the middleware has found, and the probes."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["type"] == "http" and is_public(exchange_of(scope)) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)
        response = exchange.page or await probes.answer(self._services, exchange.path)
        await response(scope, receive, send)


class OperationRoute(BaseRoute):
    """Every other request: the index finds its operation, or raises 404 or 405. Responses that are cacheable are kept."""

    def __init__(self, services: Services, dispatch: Dispatch) -> None:
        self._services, self._dispatch = services, dispatch
        self._kept = ResponseCache()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["type"] == "http" else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)
        if exchange.method != "GET":
            await self._dispatch.serve(scope, receive, send)
            return
        document = exchange.document = self._services.engine.read(None)
        key = (exchange.raw_path, exchange.query, exchange.headers.get(b"accept"))
        assert exchange.author is not None
        is_limited = exchange.author.rights is not None
        if not is_limited and (reply := self._kept.get(document, key)) is not None:
            exchange.operation = reply.operation
            await reply(scope, receive, send)
            return
        await self._dispatch.serve(scope, receive, send)
        response = exchange.response
        if response and response.cacheable and not exchange.ignored and not is_limited:
            response.operation = exchange.operation
            self._kept.keep(document, key, response)


async def _known(request: Request, error: Exception) -> Response:
    return response_to(error)


async def _of_starlette(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, str(error.detail))


async def _of_fastapi(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(422, "\n".join(f"{detail['loc'][-1]} in {detail['loc'][0]}: {detail['msg']}" for detail in error.errors()))


# Anything else is logged and answered by the middleware.
HANDLERS: dict[int | type[Exception], Any] = {
    ApiError: _known,
    NativeError: _known,
    HTTPException: _of_starlette,
    RequestValidationError: _of_fastapi,
}
