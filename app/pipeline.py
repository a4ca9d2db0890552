"""The outermost layer: last resort for failures, access log, headers of every answer, CORS, authentication; then the route.

Reads go straight to their handler; everything else passes through FastAPI.
"""

import asyncio
import itertools
import logging
import os
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import cors
from app.answer import CONFIGURATION_VERSION, Answer, Header, HeaderName
from app.call import reading
from app.errors import ApiError, answer_to
from app.log import ACCESS
from app.sidecar import Sidecar
from native.errors import NativeError

REQUEST_ID = HeaderName(b"X-Request-Id")
logger = logging.getLogger(__name__)
access_logger = logging.getLogger(ACCESS)


class Pipeline:
    """An ASGI application around the FastAPI one."""

    def __init__(self, app: ASGIApp, sidecar: Sidecar, public: Callable[[Scope], Answer | None]) -> None:
        self.app, self.sidecar, self.public = app, sidecar, public
        self._prefix, self._numbers = os.urandom(4).hex(), itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["request_id"] = f"{self._prefix}-{next(self._numbers):x}"
        started = time.perf_counter()
        exchange = Exchange(self, scope, send)
        try:
            answer = await self._answer(scope, receive, exchange)
        except (ApiError, NativeError) as error:
            answer = answer_to(error)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            logger.exception("request %s %s failed", scope["method"], scope["path"], extra={"fields": {"request_id": scope["request_id"]}})
            answer = None if exchange.status else answer_to(error)
        if answer is not None:
            await answer(scope, receive, exchange.send)
        if access_logger.isEnabledFor(logging.INFO):
            about = {"request": (scope, exchange, time.perf_counter() - started), "fields": {"request_id": scope["request_id"]}}
            access_logger.info("request", extra=about)

    async def _answer(self, scope: Scope, receive: Receive, exchange: "Exchange") -> Answer | None:
        """The answer, or None when FastAPI has sent it."""
        if (preflight := cors.preflight(scope, exchange.headers)) is not None:
            return preflight
        if (page := self.public(scope)) is not None:
            return page
        if (refusal := await self.sidecar.gate.refusal(exchange.headers.get(b"authorization", b""))) is not None:
            return refusal
        if scope["method"] != "GET":
            await self.app(scope, receive, exchange.send)
            return None
        operation, values = self.sidecar.index.find(scope)
        assert operation.handler is not None
        return await operation.handler(reading(self.sidecar, operation, values, scope))


class Exchange:
    """One request and its answer; adds the headers that every answer carries."""

    __slots__ = ("_pipeline", "_scope", "_send", "headers", "sent_headers", "size", "status")

    def __init__(self, pipeline: Pipeline, scope: Scope, send: Send) -> None:
        self._pipeline, self._scope, self._send = pipeline, scope, send
        self.headers = dict(scope["headers"])
        self.status, self.size = 0, 0
        self.sent_headers: list[Header] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = self.sent_headers = [*message["headers"], *self._common(message["headers"])]
        else:
            self.size += len(message.get("body", b""))
        await self._send(message)

    def _common(self, present: list[Header]) -> list[Header]:
        common = [(REQUEST_ID, self._scope["request_id"].encode()), *cors.headers(self._scope, self.headers)]
        if all(name is not CONFIGURATION_VERSION for name, _ in present):
            common.append((CONFIGURATION_VERSION, b"%d" % self._version()))
        if not self._pipeline.sidecar.settings.keep_alive:
            common.append((b"connection", b"close"))
        return common

    def _version(self) -> int:
        """Of the transaction the request names, 0 when that is not in progress; else the current one."""
        return self._pipeline.sidecar.engine.version(_transaction(self._scope["query_string"]))


def _transaction(query: bytes) -> str | None:
    if b"transaction_id=" not in query:
        return None
    from app.parameters import query_values

    return query_values(query).get("transaction_id", [""])[0] or None
