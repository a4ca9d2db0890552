"""The application: FastAPI, within the layers of api/stack.py, one of which finds the operation of a request.

FastAPI tries its routes one by one, the index costs the same for every path; the APIRoute of an operation is made when it is first called.
A handler is a path function; the annotation of its parameter (`ReadCall`, `JsonCall`, ...) is a dependency, which makes the call.
"""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Lifespan

from dataplaneapi.api.errors import ApiError, error_response, response_to
from dataplaneapi.api.response_cache import KeptReplies, ResponseCache
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.api.stack import RouteOfExchange, Stack
from dataplaneapi.version import VERSION
from haproxy_native.errors import NativeError


class Application(FastAPI):
    """Serves the operations of `services.index` to users, and what is public to everyone."""

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
        self.services, self.kept, self.responses = services, KeptReplies(services), ResponseCache()
        self.reply = self.kept.reply
        self.add_middleware(Stack, services=services, kept=self.kept, cache=self.responses)
        self.router.routes[:] = [RouteOfExchange()]

    def openapi(self) -> dict[str, Any]:
        """The document that declares the operations."""
        return dict(self.services.bundle)


async def _known(request: Request, error: Exception) -> Response:
    return response_to(error)


async def _of_starlette(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.status_code, str(error.detail))


async def _of_fastapi(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(422, "\n".join(f"{detail['loc'][-1]} in {detail['loc'][0]}: {detail['msg']}" for detail in error.errors()))


# Anything else is logged and answered by a layer.
HANDLERS: dict[int | type[Exception], Any] = {
    ApiError: _known,
    NativeError: _known,
    HTTPException: _of_starlette,
    RequestValidationError: _of_fastapi,
}
