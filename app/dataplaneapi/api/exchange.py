"""One request and its response, as the access log and the counters see them."""

import copy
import time
from collections.abc import Callable

from starlette.types import Message, Scope, Send

from dataplaneapi.api.responses import Header, HeaderName

REQUEST_ID = HeaderName(b"X-Request-Id")


class Exchange:
    """`common` returns the headers that every response carries; it is called when the response begins, with its own headers sent."""

    __slots__ = ("_common", "_send", "authenticated", "began", "headers", "sent_headers", "size", "status")

    def __init__(self, scope: Scope, send: Send, common: "Callable[[Exchange], list[Header]]") -> None:
        self._send, self._common = send, common
        self.began = time.perf_counter()
        # Of a header that is sent twice the first counts, as with the reference.
        self.headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        self.status: int = 0
        self.size: int = 0
        # Whether the user that the request names gave the right password.
        self.authenticated = False
        self.sent_headers: list[Header] = []

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.sent_headers = message["status"], list(message["headers"])
            self.sent_headers += self._common(self)
            message["headers"] = self.sent_headers
        else:
            self.size += len(message.get("body", b""))
        await self._send(message)

    def finished(self) -> "Exchange":
        """A copy without the connection, for the log."""
        other = copy.copy(self)
        del other._common, other._send
        return other

    def again(self, request_id: str) -> "Exchange":
        """A copy of a finished exchange under another request id."""
        other = copy.copy(self)
        other.sent_headers = [(name, request_id.encode() if name == REQUEST_ID else value) for name, value in self.sent_headers]
        return other
