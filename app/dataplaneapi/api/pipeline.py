"""The outermost layer: last resort for failures, access log, headers of every answer, CORS, authentication; then the route.

Reads go straight to their handler, most to an answer that is kept; everything else passes through FastAPI.
"""

import contextvars
import itertools
import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from dataplaneapi.api import cors, probes
from dataplaneapi.api.call import reading
from dataplaneapi.api.errors import ApiError, answer_to, error_answer
from dataplaneapi.api.exchange import REQUEST_ID, Exchange
from dataplaneapi.api.parameters import query_values
from dataplaneapi.api.response_cache import AnswerCache
from dataplaneapi.api.responses import CONFIGURATION_VERSION, Answer, FileAnswer, Header
from dataplaneapi.api.services import Sidecar
from dataplaneapi.server import connection
from dataplaneapi.server.acceptor import PROBE_PATHS
from dataplaneapi.server.replies import Replies
from dataplaneapi.telemetry import counters as tally
from dataplaneapi.telemetry import trace_context
from dataplaneapi.telemetry.log import ACCESS
from haproxy_native.errors import NativeError
from haproxy_native.request_context import origin

CLOSE = (b"connection", b"close")
logger = logging.getLogger(__name__)
access_logger = logging.getLogger(ACCESS)
# What an access line may tell of a request, beside the peers of its connection.
_LOGGED = ("type", "http_version", "method", "path", "raw_path", "query_string", "headers", "connection", "operation", "request_id")


class Pipeline:
    """The ASGI application; FastAPI, inside it, gets what is no read."""

    def __init__(self, sidecar: Sidecar, public: Callable[[Scope], Answer | None]) -> None:
        self.sidecar, self.public = sidecar, public
        self._kept, self._replies = AnswerCache(), Replies()
        self._prefix, self._numbers = os.urandom(4).hex(), itertools.count(1)

    @cached_property
    def app(self) -> ASGIApp:
        from dataplaneapi.api.changes import application

        return application(self.sidecar)

    def complete(self) -> None:
        """Imports what requests would have to wait for, and what an upgrade might take away under a running process."""
        served = [(self.app, operation.handler) for operation in self.sidecar.index.operations]
        logger.debug("%d operations are ready", len(served))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope["request_id"] = f"{self._prefix}-{next(self._numbers):x}"
        exchange = Exchange(scope, send, lambda exchange: self._common(scope, exchange))
        fields, traces = trace_context.fields(exchange.headers.get(b"traceparent")), self.sidecar.traces
        if traces:
            fields |= traces.begin(scope["method"], fields)
        origin.set({"request_id": scope["request_id"], **fields})
        try:
            answer = await self._answer(scope, receive, exchange)
        except (ApiError, NativeError) as error:
            answer = answer_to(error)
        except Exception as error:
            logger.exception("request %s %s failed", scope["method"], scope["path"])
            answer = None if exchange.status else answer_to(error)
        if answer is not None:
            await exchange.send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
            if isinstance(answer, FileAnswer):
                async for piece in answer.pieces():
                    await exchange.send({"type": "http.response.body", "body": piece, "more_body": True})
            await exchange.send({"type": "http.response.body", "body": answer.body})
        seconds = time.perf_counter() - exchange.began
        self.sidecar.tally.answered(operation_of(scope), exchange.status, seconds)
        if traces:
            traces.end(operation_of(scope), exchange.status)
        if access_logger.isEnabledFor(logging.INFO):
            _log(scope, exchange, seconds)
        if answer is not None and answer.lasting and not traces and (recording := scope.get("recording")):
            request = {name: scope[name] for name in _LOGGED}
            self._replies.keep(recording, scope["document"], self.version_of(scope), request, exchange.finished())

    def reply(self, packet: bytes, over: connection.Connection, peers: Mapping[str, Any], date: bytes) -> bytes | None:
        """What is sent for a whole request that was answered before, as the long way would answer it; None where only that can tell."""
        began = time.perf_counter()
        found, engine = self._replies.get(packet), self.sidecar.engine
        if found is None or not found.holds(over, engine.read(None), engine.version()):
            return None
        authorization = found.exchange.headers.get(b"authorization", b"")
        if over.endpoint.basic_auth and not self.sidecar.gate.admits_at_once(authorization):
            return None
        request_id = f"{self._prefix}-{next(self._numbers):x}"
        seconds = time.perf_counter() - began
        self.sidecar.tally.answered(operation_of(found.scope), found.exchange.status, seconds)
        if access_logger.isEnabledFor(logging.INFO):
            scope = {**found.scope, **peers, "request_id": request_id}
            contextvars.copy_context().run(_log_as, scope, found.exchange.again(request_id), seconds)
        return found.at(date, request_id.encode())

    async def _answer(self, scope: Scope, receive: Receive, exchange: Exchange) -> Answer | None:
        """The answer, or None when FastAPI has sent it."""
        if (over := connection.of(scope)).refused:
            return error_answer(403, over.refused)
        origins = self.sidecar.settings.cors_origins
        if (preflight := cors.preflight(scope, exchange.headers, origins)) is not None:
            return preflight
        if (foreign := cors.refusal(scope, exchange.headers, origins)) is not None:
            return foreign
        if (page := self.public(scope)) is not None:
            return page
        if scope["path"] in PROBE_PATHS:
            return await probes.answer(self.sidecar, scope["path"])
        authorization, gate = exchange.headers.get(b"authorization", b""), self.sidecar.gate
        known = not over.endpoint.basic_auth or gate.admits_at_once(authorization)
        if not known and (refusal := await gate.refusal(authorization, connection.address(scope))) is not None:
            return refusal
        exchange.authenticated = over.endpoint.basic_auth
        if scope["method"] != "GET":
            await self.app(scope, receive, exchange.send)
            return None
        return await self._read(scope, exchange.headers.get(b"accept"))

    async def _read(self, scope: Scope, accept: bytes | None) -> Answer:
        document = scope["document"] = self.sidecar.engine.read(None)
        key = (scope["raw_path"], scope["query_string"], accept)
        if (kept := self._kept.get(document, key)) is not None:
            scope["operation"] = kept.operation
            return kept
        operation, values = self.sidecar.index.find(scope)
        scope["operation"] = operation
        answer = await operation.handler(reading(self.sidecar, operation, values, scope))
        if answer.lasting and not scope["ignored"]:
            answer.operation = operation
            self._kept.keep(document, key, answer)
        return answer

    def version_of(self, scope: Scope) -> int:
        """Of the transaction the request names, 0 when that is not in progress; else the current one."""
        query = scope["query_string"]
        named = query_values(query).get("transaction_id", [""])[0] if b"transaction_id=" in query else ""
        return self.sidecar.engine.version(named or None)

    def _common(self, scope: Scope, exchange: Exchange) -> list[Header]:
        common = [
            (REQUEST_ID, scope["request_id"].encode()),
            (CONFIGURATION_VERSION, b"%d" % self.version_of(scope)),
            *cors.headers(scope, exchange.headers, self.sidecar.settings.cors_origins),
            *scope.get("ignored", ()),
        ]
        return common if connection.of(scope).endpoint.keep_alive else [*common, CLOSE]


def _log_as(scope: Scope, exchange: Exchange, seconds: float) -> None:
    origin.set({"request_id": scope["request_id"], **trace_context.fields(exchange.headers.get(b"traceparent"))})
    _log(scope, exchange, seconds)


def _log(scope: Scope, exchange: Exchange, seconds: float) -> None:
    client = {"client": name} if (name := connection.of(scope).name) else {}
    access_logger.info("request", extra={"request": (scope, exchange, seconds), "fields": client})


def operation_of(scope: Scope) -> str:
    operation = scope.get("operation")
    return operation.id if operation else tally.NO_OPERATION
