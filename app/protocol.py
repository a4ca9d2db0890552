"""uvicorn's HTTP protocol with what it lacks: limits on the size of a request's head and the time in which it must arrive.

Offers to speak another protocol are passed over.
"""

import asyncio
import json
import re
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Seconds that a connection without a request stays open when the server is told to stop.
LAST_CALL = 0.5
_OFFER = re.compile(rb"\r\nupgrade:", re.IGNORECASE)


def without_offer(data: bytes) -> bytes:
    """A head in which `Upgrade` is a header that nobody knows: Java offers HTTP/2 so, and httptools then drops the request's body."""
    head, end, body = data.partition(b"\r\n\r\n")
    return _OFFER.sub(b"\r\nignored:", head) + end + body


class Protocol(HttpToolsProtocol):
    """`largest_head` in bytes, `patience` in seconds; 0 is no limit."""

    largest_head = 0
    patience = 0.0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._in_head, self._before_body = True, True
        self._timer: asyncio.TimerHandle | None = None
        self._last_call = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(without_offer(data) if self._before_body else data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            self._expect()
            if self.largest_head and self._head_bytes > self.largest_head:
                self._refuse(431, f"request header exceeds the maximum allowed size of {self.largest_head} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._in_head, self._before_body = False, False
        self._arrived()
        super().on_headers_complete()
        if self._last_call:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._before_body = True
        super().on_message_complete()

    def shutdown(self) -> None:
        """Closes the connection after its next answer, or after LAST_CALL: a request may be on its way already."""
        if self.cycle is None or self.cycle.response_complete:
            self._last_call = True
            self.loop.call_later(LAST_CALL, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _expect(self) -> None:
        if self.patience and self._timer is None:
            self._timer = self.loop.call_later(self.patience, self._give_up)

    def _arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self._refuse(408, f"request did not arrive within {self.patience:g} seconds")

    def _refuse(self, status: int, message: str) -> None:
        """Says so in the usual shape and hangs up; what else the client sends is not looked at."""
        reasons = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
        body = json.dumps({"code": status, "message": message}).encode() + b"\n"
        about = f"Content-Type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(f"HTTP/1.1 {status} {reasons[status]}\r\n{about}".encode() + body)
        self.transport.close()
