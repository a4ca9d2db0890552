"""Cache the answers to reads of the configuration until it changes, in two caches.

`ResponseCache` caches responses of operations, for callers whose permissions no role limits. `ReplyCache` caches complete replies as
bytes. The protocol (server/protocol.py) sends such a reply without calling the application, if the same bytes arrive again as one packet.
"""

import contextvars
import itertools
import logging
import os
import time

from dataplaneapi.api import request_log
from dataplaneapi.api.authenticate import author_of
from dataplaneapi.api.exchange import Exchange, Next, Peer, peer
from dataplaneapi.api.request_log import access_logger, operation_of
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.auth.caller import Caller
from dataplaneapi.server.connection import Connection
from dataplaneapi.server.replies import Replies
from dataplaneapi.telemetry import trace_context
from haproxy_native.request_context import origin

Key = tuple[bytes, bytes, bytes | None]


class ResponseCache:
    """A cache of responses that were built from one document.

    `add` clears the cache if the document has changed, or if the responses have more than `most` bytes.
    """

    def __init__(self, most: int = 16 << 20) -> None:
        self._most, self._size = most, 0
        self._document: object = None
        self._responses: dict[Key, Response] = {}

    def get(self, document: object, key: Key) -> Response | None:
        return self._responses.get(key) if document is self._document else None

    def add(self, document: object, key: Key, response: Response) -> None:
        size = len(response.body) + 1000
        if document is not self._document or self._size + size > self._most:
            self._document, self._responses, self._size = document, {}, 0
        if size <= self._most:
            self._responses[key] = response
            self._size += size


async def answer_from_cache(services: Services, cache: ResponseCache, exchange: Exchange, next: Next) -> Response:
    """Answer a GET from the cache, and add responses to the cache. Pass on callers with roles, because their responses differ."""
    if exchange.method != "GET":
        return await next(exchange)
    document = exchange.document = services.engine.read(None)
    assert exchange.author is not None
    if exchange.author.rights is not None:
        return await next(exchange)
    key = (exchange.raw_path, exchange.query, exchange.headers.get(b"accept"))
    if (stored := cache.get(document, key)) is not None:
        exchange.operation = stored.operation
        return stored
    response = await next(exchange)
    if response.cacheable and not exchange.ignored:
        response.operation = exchange.operation
        cache.add(document, key, response)
    return response


class ReplyCache:
    """The cache of complete replies, and the source of request ids. As a layer, it adds the replies that can be sent to equal requests."""

    def __init__(self, services: Services) -> None:
        self.services, self.replies = services, Replies()
        self._prefix, self._numbers = os.urandom(4).hex(), itertools.count(1)

    def next_id(self) -> str:
        return f"{self._prefix}-{next(self._numbers):x}"

    async def __call__(self, exchange: Exchange, next: Next) -> Response:
        """Pass on a request. Cache the reply if the response is cacheable and the request arrived as one packet."""
        response = await next(exchange)
        if exchange.response and exchange.response.cacheable and not self.services.traces and exchange.recording:
            version, generation = request_log.version_of(self.services, exchange), self.services.users.generation
            self.replies.add(exchange.recording, exchange.document, version, generation, exchange)
        return response

    def reply(self, packet: bytes, connection: Connection, client: Peer, server: Peer, date: bytes) -> bytes | None:
        """Return the cached reply to the request in a packet, with the current date and a new request id, and record the request.

        Return None if the application must answer.
        """
        began = time.perf_counter()
        stored, engine = self.replies.get(packet), self.services.engine
        if stored is None or not stored.is_valid_for(connection, engine.read(None), engine.version(), self.services.users.generation):
            return None
        authorization = stored.exchange.headers.get(b"authorization", b"")
        address = self.services.proxies.client(peer(client), stored.exchange.raw_headers)
        caller = self.services.gate.known_caller(authorization, address) if connection.endpoint.basic_auth else None
        if connection.endpoint.basic_auth and caller is None:
            return None
        request_id = self.next_id()
        seconds = time.perf_counter() - began
        self.services.tally.answered(operation_of(stored.exchange), stored.exchange.status, seconds)
        if access_logger.isEnabledFor(logging.INFO) or self.services.audit.reads:
            copied = stored.exchange.copy_for(request_id, client, server, address)
            contextvars.copy_context().run(self._record, copied, caller, seconds)
        return stored.with_date_and_id(date, request_id.encode())

    def _record(self, exchange: Exchange, caller: Caller | None, seconds: float) -> None:
        origin.set({"request_id": exchange.request_id, **trace_context.fields(exchange.headers.get(b"traceparent"))})
        if access_logger.isEnabledFor(logging.INFO):
            request_log.write_access_line(exchange, seconds)
        if self.services.audit.reads:
            exchange.author = author_of(exchange, caller, self.services)
            request_log.publish_event(exchange, self.services)
