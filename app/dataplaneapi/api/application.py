"""Define the ASGI application: FastAPI inside the layers of api/stack.py, which find the operation of a request.

Every operation of the document is a route in the APIRouter of its tag. FastAPI would try these routes, more than 800, one by one. The first
route is therefore `RouteOfExchange`, which matches every request and passes it to the route of its operation.

A handler is a path function. The annotation of its parameter (`ReadCall`, `JsonCall`, ...) is a dependency that creates the `Call`.
"""

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Lifespan

from dataplaneapi.api.errors import ApiError, error_response, response_to
from dataplaneapi.api.operations import BASE, Operation
from dataplaneapi.api.response_cache import ReplyCache, ResponseCache
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.api.stack import OperationRoute, RouteOfExchange, Stack
from dataplaneapi.version import VERSION
from haproxy_native.errors import NativeError


class Application(FastAPI):
    """The ASGI application. It serves the operations of `services.index` to authenticated callers, and `services.public` to everyone."""

    def __init__(self, services: Services, lifespan: "Lifespan[Application] | None" = None) -> None:
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
        self.services, self.reply_cache, self.responses = services, ReplyCache(services), ResponseCache()
        self.reply = self.reply_cache.reply
        self.operation_routes: dict[Operation, OperationRoute] = {}
        self._tags: dict[str, APIRouter] = {}
        self.add_middleware(Stack, services=services, reply_cache=self.reply_cache, cache=self.responses, routes=self.operation_routes)
        self.router.routes[:] = [RouteOfExchange()]
        for operation in services.index.operations:
            self.serve(operation)

    def serve(self, operation: Operation) -> None:
        """Add the route of an operation to the router of its tag."""
        router = self._tags.get(operation.tag)
        if router is None:
            router = self._tags[operation.tag] = APIRouter()
            self.include_router(router, prefix=BASE)
        route = self.operation_routes[operation] = OperationRoute(operation)
        router.routes.append(route)

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document that declares the operations."""
        return dict(self.services.bundle)


async def _answer_known_error(request: Request, error: Exception) -> Response:
    return response_to(error)


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, str(error.detail))


async def _answer_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(422, "\n".join(f"{detail['loc'][-1]} in {detail['loc'][0]}: {detail['msg']}" for detail in error.errors()))


# These functions answer exceptions in handlers. The layer `answer_errors` in api/stack.py logs and answers any other exception.
HANDLERS: dict[int | type[Exception], Any] = {
    ApiError: _answer_known_error,
    NativeError: _answer_known_error,
    HTTPException: _answer_http_exception,
    RequestValidationError: _answer_invalid_request,
}
