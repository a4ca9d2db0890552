"""One request and its response: what arrived, what the layers have found out about it, and what was answered.

The outermost layer makes it, and every other finds it in the scope of ASGI under `EXCHANGE`, the one key there that is ours.
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
    """Send nothing: the request is described in the body of another, which answers."""


async def _from_nobody() -> Message:
    """Return that the client has left, whatever was still to come."""
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
        """`common` returns the headers that every response has; it is called when the response begins, and `sent_headers` is its own."""
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
        # Of a header that is sent twice the first counts, as with the reference.
        self.headers: Mapping[bytes, bytes] = dict(reversed(self.raw_headers))
        self.request_id = ""
        # The client's, on which access and limits depend: behind a trusted proxy not the peer's.
        self.address = peer(self.client)
        # None for what needs no credentials, and until they were checked.
        self.author: CallAuthor | None = None
        # Whether the user that the request names gave the right password.
        self.authenticated = False
        # None for what no operation is for, and until one was looked for; the values of a kept answer were not looked for.
        self.operation: Operation | None = None
        self.path_values: Mapping[str, str] | None = None
        # What FastAPI serves the operation with.
        self.route: ASGIApp | None = None
        # The configuration that a GET is answered from.
        self.document: Document | None = None
        # Counts the bytes of its body.
        self.held: Holding | None = None
        # Headers of the answer that name what nothing reads.
        self.ignored: list[Header] = []
        # Whether the answer is that of an earlier call with the same Idempotency-Key.
        self.is_replayed = False
        self.response: Response | None = None
        self.status = 0
        self.size = 0
        self.sent_headers: list[Header] = []

    @property
    def operation_id(self) -> str:
        """The id of its operation; empty without one."""
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
        """Send a message of ASGI, or the response that it hands on."""
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
        """Send the response, or that the client has it already."""
        await response.complete()
        self.response = response
        # A request whose client leaves while it is answered has been served.
        self.when_gone = None
        if not response.cacheable:
            # A configuration that is replaced meanwhile is not kept for the sake of one answer.
            self.document = None
        is_tagged = self.operation is not None and self.method == "GET" and response.status_code == 200
        try:
            await response.send_to(self, self.send, self.values_of(b"if-none-match") if is_tagged else None)
        finally:
            self.size += response.written

    def finish(self) -> None:
        """Release the connection and what the response was made from; what logs tell of the exchange stays."""
        self.receive, self._send, self._common = _from_nobody, _to_nobody, _no_headers
        self.answer_within, self.write_part, self.recording, self.when_gone, self.at_end = no_deadline, None, None, None, None
        self.scope, self.route, self.document, self.response, self.held = {}, None, None, None, None

    def again(self, request_id: str, client: Peer, server: Peer, address: str) -> Self:
        """Return a copy of a finished exchange that is answered the same again, under another request id."""
        other = copy.copy(self)
        other.request_id, other.client, other.server, other.address = request_id, client, server, address
        # Nothing is looked for to answer it, so the object that it asks for is yet to be noted.
        other.path_values = None
        other.sent_headers = [(name, request_id.encode() if name == REQUEST_ID else value) for name, value in self.sent_headers]
        return other


Next = Callable[[Exchange], Awaitable[Response]]


class Layer(Protocol):
    """Something that a request passes (api/stack.py): it returns the response of the next layer, or its own."""

    async def __call__(self, exchange: Exchange, next: Next) -> Response: ...


def peer(client: Peer) -> str:
    """Return the address at the other end of a connection; a word for a Unix socket, which has none."""
    return client[0] if client else UNIX


def exchange_of(scope: Scope) -> Exchange:
    """Return the exchange of a request within the outermost layer."""
    exchange: Exchange = scope[EXCHANGE]
    return exchange
