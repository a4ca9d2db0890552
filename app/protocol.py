"""uvicorn's HTTP protocol with what it lacks: limits on the size of a request's head and the times in which it must arrive and its answer
be taken; and who is at the other end.

Offers to speak another protocol are passed over.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.connection import connection
from app.endpoint import Endpoint

logger = logging.getLogger(__name__)
# Seconds that a connection without a request stays open when the server is told to stop.
LAST_CALL = 0.5
_OFFER = re.compile(rb"\r\nupgrade:", re.IGNORECASE)


def without_offer(data: bytes) -> bytes:
    """A head in which `Upgrade` is a header that nobody knows: Java offers HTTP/2 so, and httptools then drops the request's body."""
    head, end, body = data.partition(b"\r\n\r\n")
    return _OFFER.sub(b"\r\nignored:", head) + end + body


class Protocol(HttpToolsProtocol):
    """One connection to an endpoint; `ended` is called when it is over."""

    def __init__(self, endpoint: Endpoint, ended: Callable[[], None], *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._endpoint, self._ended = endpoint, ended
        self.timeout_keep_alive = endpoint.cleanup_timeout  # type: ignore[assignment]
        self._head_bytes = 0
        self._in_head, self._before_body = True, True
        self._timer: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None
        self._last_call = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._connection = connection(self._endpoint, transport.get_extra_info("peercert"))
        if self._connection.refused:
            logger.warning("%s, from %s", self._connection.refused, self.client[0] if self.client else "-")
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        self._taken()
        super().connection_lost(exc)
        self._ended()

    def data_received(self, data: bytes) -> None:
        super().data_received(without_offer(data) if self._before_body else data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            self._expect()
            largest = self._endpoint.max_header_size
            if largest and self._head_bytes > largest:
                self._refuse(431, f"request header exceeds the maximum allowed size of {largest} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["connection"] = self._connection  # type: ignore[typeddict-unknown-key]
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

    def pause_writing(self) -> None:
        """The client does not take what it asked for; it gets `write_timeout` to go on."""
        super().pause_writing()
        if self._endpoint.write_timeout and self._reader is None:
            self._reader = self.loop.call_later(self._endpoint.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """An answer that nobody takes must not keep its connection open."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _taken(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _expect(self) -> None:
        if self._endpoint.read_timeout and self._timer is None:
            self._timer = self.loop.call_later(self._endpoint.read_timeout, self._give_up)

    def _arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self._refuse(408, f"request did not arrive within {self._endpoint.read_timeout:g} seconds")

    def _refuse(self, status: int, message: str) -> None:
        """Says so in the usual shape and hangs up; what else the client sends is not looked at."""
        reasons = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
        body = json.dumps({"code": status, "message": message}).encode() + b"\n"
        about = f"Content-Type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(f"HTTP/1.1 {status} {reasons[status]}\r\n{about}".encode() + body)
        self.transport.close()
