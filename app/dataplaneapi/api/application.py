"""Define the ASGI application: FastAPI inside the layers of api/stack.py, which find the operation of a request.

FastAPI would try the routes of more than 800 operations one by one. The only route of the application is therefore `OperationRoute`, which
passes every request to the route of its operation.

A handler is a path function. The annotation of its parameter (`ReadCall`, `JsonCall`, ...) is a dependency that creates the `Call`.
"""

from typing import Any

from fastapi import FastAPI, Request
from starlette.types import Lifespan

from dataplaneapi.api.errors import ApiError, response_to
from dataplaneapi.api.response_cache import ReplyCache, ResponseCache
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.api.stack import OperationRoute, Stack
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
            # The layer `answer_errors` in api/stack.py logs and answers any other exception.
            exception_handlers={ApiError: _answer_known_error, NativeError: _answer_known_error},
            telemetry={"tracing": False, "metrics": False, "logs": False},
        )
        self.services, self.reply_cache, self.responses = services, ReplyCache(services), ResponseCache()
        self.reply = self.reply_cache.reply
        self.add_middleware(Stack, services=services, reply_cache=self.reply_cache, cache=self.responses)
        self.router.routes[:] = [OperationRoute()]

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document that declares the operations."""
        return dict(self.services.bundle)


async def _answer_known_error(request: Request, error: Exception) -> Response:
    return response_to(error)
