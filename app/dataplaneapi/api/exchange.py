"""Define `Exchange`: a request, what the layers have determined about it, and its response.

`Stack` creates the exchange and stores it in the ASGI scope under `EXCHANGE`, the only key that this server adds to a scope.
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


async def _discard(message: Message) -> None:
    """Discard a message. This is the `send` of an exchange that is finished, or that another call describes (api/described.py)."""


async def _report_disconnect() -> Message:
    """Report that the client has disconnected. This is the `receive` of a finished exchange."""
    return {"type": "http.disconnect"}


def _no_headers(exchange: object) -> list[Header]:
    return []


class Exchange(Channel):
    """A request and its response. The request has arrived on a connection, or another call describes it (api/described.py)."""

    __slots__ = (
        *("_common", "_send", "address", "author", "began", "body_share", "client", "document", "headers", "http_version"),
        *("ignored", "is_replayed", "method", "operation", "path", "path_values", "query", "raw_headers", "raw_path", "receive"),
        *("request_id", "response", "route", "scheme", "scope", "sent_headers", "server", "size", "status"),
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send = _discard,
        common: "Callable[[Exchange], list[Header]]" = _no_headers,
    ) -> None:
        """Create the exchange of a request.

        `common(exchange)` returns the headers that every response has. It is called when the response begins, after the headers of the
        response are stored in `sent_headers`.
        """
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
        # If a header is sent twice, the first takes precedence, as in the Data Plane API.
        self.headers: Mapping[bytes, bytes] = dict(reversed(self.raw_headers))
        self.request_id = ""
        # The address of the client, by which access is checked and limits are applied. Behind a trusted proxy it is not that of the peer.
        self.address = peer(self.client)
        # None for a public path, and before the credentials are checked.
        self.author: CallAuthor | None = None
        # Both are None before `Route` finds the operation. If the response is cached, only `operation` is set.
        self.operation: Operation | None = None
        self.path_values: Mapping[str, str] | None = None
        # The ASGI application of the operation's route.
        self.route: ASGIApp | None = None
        # The configuration that a GET reads.
        self.document: Document | None = None
        # Counts the bytes of the request body for the caller.
        self.body_share: Holding | None = None
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
        """The id of the operation. Empty if there is no operation."""
        return self.operation.id if self.operation else ""

    @property
    def matched(self) -> Operation:
        """The operation that the request is for, in the layers below `Route`."""
        assert self.operation is not None
        return self.operation

    def values_of(self, name: bytes) -> str:
        """Return all values of a header, joined by commas, or an empty text if the header was not sent."""
        return ",".join([value.decode("latin-1") for key, value in self.raw_headers if key == name])

    async def send(self, message: Message) -> None:
        """Send an ASGI message, or the response that a message of type RESPONSE contains."""
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
        """Complete the response and send it. Send 304 instead if the client already has the response."""
        await response.complete()
        self.response = response
        # The handler is done, so there is nothing to cancel if the client disconnects now.
        self.when_gone = None
        if not response.cacheable:
            # While the response is sent, another commit may replace the configuration. This releases the old one from memory.
            self.document = None
        is_tagged = self.operation is not None and self.method == "GET" and response.status_code == 200
        try:
            await response.send_to(self, self.send, self.values_of(b"if-none-match") if is_tagged else None)
        finally:
            self.size += response.written

    def finish(self) -> None:
        """Release the connection, the response and the configuration. Keep the fields that log lines show."""
        self.receive, self._send, self._common = _report_disconnect, _discard, _no_headers
        self.answer_within, self.write_part, self.recording, self.when_gone, self.at_end = no_deadline, None, None, None, None
        self.scope, self.route, self.document, self.response, self.body_share = {}, None, None, None, None

    def copy_for(self, request_id: str, client: Peer, server: Peer, address: str) -> Self:
        """Return a copy of this finished exchange for a later request with the same reply. The arguments describe the later request."""
        copied = copy.copy(self)
        copied.request_id, copied.client, copied.server, copied.address = request_id, client, server, address
        # `Route` does not run for a cached reply. None makes `publish_event` record the object of the request.
        copied.path_values = None
        copied.sent_headers = [(name, request_id.encode() if name == REQUEST_ID else value) for name, value in self.sent_headers]
        return copied


Next = Callable[[Exchange], Awaitable[Response]]


class Layer(Protocol):
    """A layer that requests pass through (api/stack.py). It returns the response of the next layer, or its own."""

    async def __call__(self, exchange: Exchange, next: Next) -> Response: ...


def peer(client: Peer) -> str:
    """Return the address of a peer. Return UNIX for the peer of a Unix socket, which has no address."""
    return client[0] if client else UNIX


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of a request from its ASGI scope."""
    exchange: Exchange = scope[EXCHANGE]
    return exchange
