"""The FastAPI half of the server: whatever is no read. Imported when it is first needed, as FastAPI takes longer to import than all else.

FastAPI tries its routes one by one; here one route asks our index, and an operation's own is built when it is first called.
"""

from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from dataplaneapi.api.call import Call, Source
from dataplaneapi.api.errors import ApiError, answer_to, error_answer
from dataplaneapi.api.operations import Handler, Operation
from dataplaneapi.api.responses import Answer
from haproxy_native.errors import NativeError

if TYPE_CHECKING:
    from dataplaneapi.api.services import Sidecar


def application(sidecar: "Sidecar") -> FastAPI:
    """Answers every failure in our shape; it passes unexpected ones on, and the pipeline logs them."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.router.routes[:] = [OnlyRoute(sidecar)]
    for kind in (ApiError, NativeError, Exception):
        app.add_exception_handler(kind, _known)
    app.add_exception_handler(HTTPException, _of_starlette)
    app.add_exception_handler(RequestValidationError, _of_fastapi)
    return app


class OnlyRoute(BaseRoute):
    """Every request; the operation decides."""

    def __init__(self, sidecar: "Sidecar") -> None:
        self._sidecar = sidecar
        self._routes: dict[Operation, APIRoute] = {}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL, {}) if scope["type"] == "http" else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation, values = self._sidecar.index.find(scope)
        scope["operation"], scope["path_params"] = operation, values
        await self._route(operation).app(scope, receive, send)

    def _route(self, operation: Operation) -> APIRoute:
        route = self._routes.get(operation)
        if route is None:
            endpoint = _endpoint(operation.handler, self._sidecar)
            route = self._routes[operation] = APIRoute(operation.path, endpoint, methods=[operation.method], response_model=None)
        return route


class Sending(Response):
    """An answer as a response of starlette's."""

    def __init__(self, answer: Answer) -> None:
        self.status_code, self.background = answer.status_code, None
        self.body, self.raw_headers = answer.body, answer.raw_headers


def _endpoint(handler: Handler, sidecar: "Sidecar") -> Any:
    """A path function around a handler, whose annotation says how its call comes to be (`Written`, `Sent`)."""
    (annotation,) = (hint for name, hint in get_type_hints(handler, include_extras=True).items() if name != "return")
    source: Source = annotation.__metadata__[0]

    async def call(request: Request) -> Call:
        return await source(sidecar, request.scope, request.receive)

    async def endpoint(call: Annotated[Call, Depends(call)]) -> Response:
        return Sending(await handler(call))

    return endpoint


async def _known(request: Request, error: Exception) -> Response:
    return Sending(answer_to(error))


async def _of_starlette(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return Sending(error_answer(error.status_code, str(error.detail)))


async def _of_fastapi(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return Sending(error_answer(422, "\n".join(f"{each['loc'][-1]} in {each['loc'][0]}: {each['msg']}" for each in error.errors())))
