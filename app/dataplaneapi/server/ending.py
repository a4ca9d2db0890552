"""Close connections so that the last response reaches the client, and cut off clients that do not read."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dataplaneapi.server.endpoint import Endpoint


class Deadline:
    """The timer of a connection. It has at most one pending action, and a new action replaces the pending one.

    The underlying asyncio timer is reused rather than cancelled for each new action, because most actions are replaced long before they are
    due.
    """

    __slots__ = ("_action", "_due", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: float | None = None
        self._action: Callable[[], object] = _nothing
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float, action: Callable[[], object]) -> None:
        """Replace the pending action: call `action` after this many seconds. 0 means never."""
        if not seconds:
            self.clear()
            return
        self._due, self._action = self._loop.time() + seconds, action
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._fired)
        elif self._due < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(self._due, self._fired)

    def clear(self) -> None:
        """Drop the pending action."""
        self._due, self._action = None, _nothing

    def end(self) -> None:
        """Drop the pending action and cancel the asyncio timer, at the end of the connection."""
        self.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fired(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self._due > self._loop.time():
            self._timer = self._loop.call_at(self._due, self._fired)
            return
        action = self._action
        self.clear()
        action()


def _nothing() -> None:
    return None


LINGER_SECONDS, CLOSING_SECONDS = 2.0, 30.0
# The headers that `protection` in dataplaneapi.api.responses adds to all other responses.
_PROTECTION = "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nCache-Control: no-store\r\n"
_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    414: "URI Too Long",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class Ending(HttpToolsProtocol):
    """uvicorn's protocol, with our own ways to end a connection. Its subclass `Protocol` handles requests and responses.

    `_ignores_input` is whether data from the client is ignored. `_in_head` and `_in_body` are whether the client has sent only a part of
    the head or body of a request.
    """

    # The attributes of uvicorn are in a dictionary, which would double in size if it contained these too.
    __slots__ = ("_deadline", "_endpoint", "_ignores_input", "_in_body", "_in_head", "_write_timer")

    def __init__(self, endpoint: Endpoint, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._endpoint = endpoint
        self._deadline = Deadline(self.loop)
        self._ignores_input = self._in_head = self._in_body = False
        self._write_timer: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Abort the connection in `write_timeout` seconds unless the client reads. asyncio calls this when the write buffer is full."""
        super().pause_writing()
        if self._endpoint.write_timeout and self._write_timer is None:
            self._write_timer = self.loop.call_later(self._endpoint.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection. Abort it if the client has not read the last response, which otherwise would keep it open."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _send_error(self, status: int, message: str) -> None:
        """Send an error response with the usual body, and close the connection."""
        body = json.dumps({"code": status, "message": message}).encode() + b"\n"
        about = f"Content-Type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{_PROTECTION}\r\n"
        if not self.transport.is_closing():
            self.transport.write(f"HTTP/1.1 {status} {_REASONS[status]}\r\n{about}".encode() + body)
            self._ignores_input = True
            self._hang_up()

    def _hang_up(self) -> None:
        """Close the connection. If the client is still sending, first wait LINGER_SECONDS, because a reset could discard the response."""
        if self.transport.is_closing():
            return
        if not (self._ignores_input or self._in_head or self._in_body):
            self._close()
            return
        self._ignores_input = True
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline.within(LINGER_SECONDS, self._close)

    def _close(self) -> None:
        self.transport.close()
        self._abort_in_time()

    def _abort_in_time(self) -> None:
        """Abort a closing connection if it cannot send its buffered data within `write_timeout`."""
        self._deadline.within(self._endpoint.write_timeout or CLOSING_SECONDS, self.transport.abort)
