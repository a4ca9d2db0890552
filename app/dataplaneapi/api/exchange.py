"""`Exchange`: a request, what the layers have found out about it, and its response.

`Stack` creates the exchange and stores it in the ASGI scope under `EXCHANGE`, the only key there that ASGI does not define.
"""

import copy
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, Self

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dataplaneapi.api.operations import Operation
from dataplaneapi.api.responses import RESPONSE, Header, HeaderName, Response
from dataplaneapi.auth.caller import CallAuthor
from dataplaneapi.server.connection import EXCHANGE, Channel, no_deadline
from dataplaneapi.settings.proxies import UNIX
from haproxy_native.shares import Holding
from haproxy_native.text.document import Document

REQUEST_ID = HeaderName(b"X-Request-Id")
# Address and port; None for a Unix socket.
Peer = tuple[str, int] | None


async def _to_nobody(message: Message) -> None:
    """Discard a message: the exchange has no connection, because it is described in the body of another call or is finished."""


async def _from_nobody() -> Message:
    """Report that the client has disconnected."""
    return {"type": "http.disconnect"}


def _no_headers(exchange: object) -> list[Header]:
    return []


class Exchange(Channel):
    """A request that has arrived, or that is described in the body of another (api/described.py), and its response."""

    __slots__ = (
        *("_common", "_send", "address", "authenticated", "author", "began", "client", "document", "headers", "held", "http_version"),
        *("ignored", "is_replayed", "method", "operation", "path", "path_values", "query", "raw_headers", "raw_path", "receive"),
        *("request_id", "response", "route", "scheme", "scope", "sent_headers", "server", "size", "status"),
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send = _to_nobody,
        common: "Callable[[Exchange], list[Header]]" = _no_headers,
    ) -> None:
        """`common` returns the headers of every response. It is called when the response begins: `sent_headers` then has the others."""
        channel = scope.get(EXCHANGE) or Channel()
        super().__init__(channel.connection, channel.answer_within, channel.write_part, channel.recording)
        self.began = time.perf_counter()
        self.scope, self.receive, self._send, self._common = scope, receive, send, common
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.raw_path: bytes = scope["raw_path"]
        self.query: bytes = scope["query_string"]
        self.http_version: str = scope.get("http_version", "1.1")
        self.scheme: str = scope.get("scheme", "http")
        self.client: Peer = scope.get("client")
        self.server: Peer = scope.get("server")
        self.raw_headers: list[Header] = scope["headers"]
        # If a header is sent twice, the first counts, as in the reference.
        self.headers: Mapping[bytes, bytes] = dict(reversed(self.raw_headers))
        self.request_id = ""
        # The client's address, which access and limits depend on. Behind a trusted proxy it is not the peer's.
        self.address = peer(self.client)
        # None for a public path, and until the credentials are checked.
        self.author: CallAuthor | None = None
        # Whether the request has sent valid credentials.
        self.authenticated = False
        # Both are None until `Route` has found the operation. With a cached response only `operation` is set.
        self.operation: Operation | None = None
        self.path_values: Mapping[str, str] | None = None
        # The ASGI application of the operation's route.
        self.route: ASGIApp | None = None
        # The configuration that a GET is answered from.
        self.document: Document | None = None
        # Counts the bytes of the request body for the caller.
        self.held: Holding | None = None
        # Response headers that list ignored parameters and members.
        self.ignored: list[Header] = []
        # Whether the response is the stored one of an earlier call with the same Idempotency-Key.
        self.is_replayed = False
        self.response: Response | None = None
        self.status = 0
        self.size = 0
        self.sent_headers: list[Header] = []

    @property
    def operation_id(self) -> str:
        """The id of the operation; empty if there is none."""
        return self.operation.id if self.operation else ""

    @property
    def matched(self) -> Operation:
        """The operation that the request is for, in the layers below `Route`."""
        assert self.operation is not None
        return self.operation

    def values_of(self, name: bytes) -> str:
        """Return all values of a header, joined by commas."""
        return ",".join([value.decode("latin-1") for key, value in self.raw_headers if key == name])

    async def send(self, message: Message) -> None:
        """Send an ASGI message. A message of type RESPONSE contains a response, which is sent instead."""
        if message["type"] == RESPONSE:
            await self.respond(message["response"])
            return
        if message["type"] == "http.response.start":
            self.status, self.sent_headers = message["status"], list(message["headers"])
            self.sent_headers += self._common(self)
            message["headers"] = self.sent_headers
        else:
            self.size += len(message.get("body", b""))
        await self._send(message)

    async def respond(self, response: Response) -> None:
        """Send the response, or 304 if the client has it already."""
        await response.complete()
        self.response = response
        # The work is done, so a client that disconnects now cancels nothing.
        self.when_gone = None
        if not response.cacheable:
            # If the configuration is replaced while the response is sent, the old one must not stay in memory.
            self.document = None
        is_tagged = self.operation is not None and self.method == "GET" and response.status_code == 200
        try:
            await response.send_to(self, self.send, self.values_of(b"if-none-match") if is_tagged else None)
        finally:
            self.size += response.written

    def finish(self) -> None:
        """Release the connection, the response and its sources. The fields that log lines show stay."""
        self.receive, self._send, self._common = _from_nobody, _to_nobody, _no_headers
        self.answer_within, self.write_part, self.recording, self.when_gone, self.at_end = no_deadline, None, None, None, None
        self.scope, self.route, self.document, self.response, self.held = {}, None, None, None, None

    def again(self, request_id: str, client: Peer, server: Peer, address: str) -> Self:
        """Return a copy of a finished exchange for a later request with the same reply, which has its own request id and addresses."""
        other = copy.copy(self)
        other.request_id, other.client, other.server, other.address = request_id, client, server, address
        # `Route` does not run for a cached reply, so `publish_event` still has to note the object of the request.
        other.path_values = None
        other.sent_headers = [(name, request_id.encode() if name == REQUEST_ID else value) for name, value in self.sent_headers]
        return other


Next = Callable[[Exchange], Awaitable[Response]]


class Layer(Protocol):
    """A layer that requests pass (api/stack.py). It returns the response of the next layer, or its own."""

    async def __call__(self, exchange: Exchange, next: Next) -> Response: ...


def peer(client: Peer) -> str:
    """Return the address of a peer; UNIX for the peer of a Unix socket, which has no address."""
    return client[0] if client else UNIX


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of a request from its ASGI scope."""
    exchange: Exchange = scope[EXCHANGE]
    return exchange
