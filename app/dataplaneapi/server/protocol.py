"""Serve HTTP/1.1 connections with uvicorn's protocol, extended by limits on heads and chunked bodies, deadlines, and client identities.

When the server closes a connection, the last response still reaches the client: while the client is still sending, the connection is only
half-closed. Every state of a connection has a deadline:

| state | deadline | what happens then |
|---|---|---|
| the first request, or a request that has begun, is arriving | `read_timeout` | 408 |
| no request is arriving or in progress | `cleanup_timeout` | close |
| a request is in progress | `read_timeout` for its body (dataplaneapi.api.bodies), then ANSWER_SECONDS | 503 |
| a part of the response has been sent, and more parts follow | ANSWER_SECONDS after the last part | reset |
| the client does not read the response | `write_timeout` | reset |
| the last response has been sent, and the client is still sending | LINGER_SECONDS | close |

The application gets a `Channel` in its scope (dataplaneapi.server.connection). With it, a handler can extend its deadline, write parts
without waiting, and be notified when the client disconnects.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from dataplaneapi.server.acceptor import PROBE_PATHS, AcceptedConnection
from dataplaneapi.server.connection import EXCHANGE, Channel, Outlet, RecordingOutlet, connection
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.server.head import MOST_FIELDS, HalfHeads, RequestRefused, check, too_large, too_many
from dataplaneapi.server.log_rate import RateLimit
from dataplaneapi.server.replies import is_whole

logger = logging.getLogger(__name__)
logger.addFilter(RateLimit())
ANSWER_SECONDS = 300.0
# Seconds that an idle connection stays open when the server stops: a connection that has not sent a request yet, and any other.
FIRST_CALL, LAST_CALL = 5.0, 0.5
# The most requests on one connection that wait for earlier responses.
PIPELINED = 32
# The most bytes of framing in a chunked body: FRAMING, plus FRAMING_EACH for each byte of content.
FRAMING, FRAMING_EACH = 1 << 16, 16
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


class Enough(Exception):
    """Raised to stop reading from a connection on which PIPELINED requests already wait."""


class ListenerState(ServerState):
    """The state that the connections of one listener share."""

    def __init__(self, half_heads: HalfHeads) -> None:
        self._date = 0, b""
        super().__init__()
        self.half_heads, self.stopping = half_heads, False

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers that uvicorn adds to every response: the date."""
        if (now := int(time.time())) != self._date[0]:
            self._date = now, formatdate(now, usegmt=True).encode()
        return [(b"date", self._date[1])]

    @default_headers.setter
    def default_headers(self, value: list[tuple[bytes, bytes]]) -> None:
        """Ignore the headers that uvicorn sets."""


class Deadline:
    """The timer of a connection. At most one action is pending, and a new action replaces it.

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
        """Call `action` after this many seconds, instead of the pending action. If `seconds` is 0, only drop the pending action."""
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


class Protocol(HttpToolsProtocol):
    """One connection to an endpoint: it receives requests, calls the application, and sends responses.

    `_ignores_input`: whether data from the client is ignored. `_in_head`, `_in_body`: whether the client has sent only a part of the head,
    or of the body, of a request.
    """

    # The attributes of uvicorn are in a dictionary, which would double in size if it contained these too.
    __slots__ = (
        *("_accepted", "_active", "_arrived_bytes", "_cached_reply", "_connection", "_deadline", "_delayed_start", "_endpoint"),
        *("_head_bytes", "_ignores_input", "_in_body", "_in_head", "_is_new", "_outlet", "_patience", "_peer", "_stopping"),
        *("_whole_packet", "_write_timer"),
    )
    server_state: ListenerState

    def __init__(self, endpoint: Endpoint, accepted: AcceptedConnection, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._endpoint, self._accepted = endpoint, accepted
        self.timeout_keep_alive = endpoint.cleanup_timeout  # type: ignore[assignment]
        self._deadline = Deadline(self.loop)
        self._patience = ANSWER_SECONDS
        self._write_timer: asyncio.TimerHandle | None = None
        self._active: RequestResponseCycle | None = None
        self._delayed_start: Callable[[], None] | None = None
        self._ignores_input = self._in_head = self._in_body = False
        self._head_bytes = self._arrived_bytes = 0
        self._stopping = False
        self._is_new = True
        # The packet that is being parsed, if it may be one complete request.
        self._whole_packet: bytes | None = None
        # The cache of the application, if it has one.
        self._cached_reply: Callable[..., bytes | None] | None = getattr(self.config.app, "reply", None)

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._outlet = Outlet(transport, self._hang_up)
        self._connection = connection(self._endpoint, transport.get_extra_info("peercert"))
        self._peer = f"{self.client[0]}:{self.client[1]}" if self.client else "the unix socket"
        if self._connection.refused:
            logger.warning("%s, from %s", self._connection.refused, self._peer)
        self._accepted.on_slot, self._accepted.on_evicted = self._start_delayed, self._evict
        self._deadline.within(self._endpoint.read_timeout, self._time_out_request)
        if self.server_state.stopping:
            self.shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.end()
        self._cancel_write_timer()
        self._unset_keepalive_if_required()
        self._count_head(0)
        self._delayed_start = None
        self._end_response()
        if self._active is not None:
            self._cancel_work(self._active)
        super().connection_lost(exc)
        self._accepted.release()

    def shutdown(self) -> None:
        """Close the connection after the responses in progress.

        An idle connection is closed after a short wait, because a request may be about to arrive.
        """
        self._stopping = True
        if self._active is not None:
            self.cycle.keep_alive = False
            self._end_response()
        elif not self._in_head:

            def hang_up_if_idle() -> None:
                if self._active is None and not self._in_head:
                    self._hang_up()

            self.loop.call_later(FIRST_CALL if self._is_new else LAST_CALL, hang_up_if_idle)

    def _end_response(self) -> None:
        """End the current response if it is a stream, because a stream does not end by itself."""
        if self._active is not None and (at_end := _channel(self._active).at_end):
            at_end()

    # What arrives

    def data_received(self, data: bytes) -> None:
        if self._ignores_input:
            return
        between = not (self._in_head or self._in_body)
        self._whole_packet = data if between and is_whole(data) else None
        if self._whole_packet and self._send_cached_reply(data):
            return
        self._arrived_bytes += len(data)
        try:
            self._feed(data)
            if self._in_head:
                if between and self._active is None:
                    self._deadline.within(self._endpoint.read_timeout, self._time_out_request)
                self._count_head(self._head_bytes + len(data) if between or self._head_bytes else 1)
            elif self._in_body and self._arrived_bytes > FRAMING:
                raise RequestRefused(400, "the chunks of the body are too small, or their extensions and trailers too large")
        except (RequestRefused, httptools.HttpParserError) as error:
            cause = error.__context__ if isinstance(error, httptools.HttpParserCallbackError) else error
            if isinstance(cause, Enough):
                self._stop_listening()
            elif isinstance(cause, RequestRefused):
                self._refuse(cause.status, cause.message)
            else:
                self._refuse(400, f"invalid HTTP request: {cause}")

    def _send_cached_reply(self, request: bytes) -> bool:
        """Send the cached reply to a request, and wait for the next request. Return False if there is no cached reply."""
        if self._cached_reply is None or self._active or self._stopping:
            return False
        if not self._accepted.has_slot or self.flow.write_paused or self._connection.refused:
            return False
        ((_, date),) = self.server_state.default_headers
        reply = self._cached_reply(request, self._connection, self.client, self.server, date)
        if reply is None:
            return False
        self.server_state.total_requests += 1
        self._is_new = False
        self._unset_keepalive_if_required()
        self._deadline.within(self._endpoint.cleanup_timeout, self.timeout_keep_alive_handler)
        self.transport.write(reply)
        return True

    def _feed(self, data: bytes) -> None:
        """Pass data to the parser.

        If the data has the header `Upgrade`, with which Java offers HTTP/2, parse the head again without this header. If the header stayed,
        the parser would drop the body.
        """
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offered:
            headers = [b"%s: %s\r\n" % header for header in self.headers if header[0] != b"upgrade"]
            method, version = self.parser.get_method(), self.parser.get_http_version().encode()
            head = b"%s %s HTTP/%s\r\n%s\r\n" % (method, self.url, version, b"".join(headers))
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self._in_head = False
            self._feed(head + data[offered.args[0] :])

    def _count_head(self, size: int) -> None:
        """Record how many bytes of an incomplete head have arrived. `size` is 0 if the head is complete.

        Raises RequestRefused for too many bytes.
        """
        growth, self._head_bytes = size - self._head_bytes, size
        self.server_state.half_heads.add(growth)
        if size and self._endpoint.max_header_size and size > self._endpoint.max_header_size:
            raise too_large(self._endpoint)

    # What the parser reports

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= PIPELINED:
            raise Enough
        super().on_message_begin()
        self._unset_keepalive_if_required()
        channel = Channel(self._connection, self._answer_within, self._write_part)
        self.scope[EXCHANGE] = channel  # type: ignore[literal-required]
        self._in_head, self._is_new = True, False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # A trailer, which is ignored.
        if len(self.headers) >= MOST_FIELDS:
            raise too_many()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        method, version = self.parser.get_method(), self.parser.get_http_version()
        if self.parser.should_upgrade() and method != b"CONNECT":
            return
        check(self._endpoint, version, method, self.url, self.headers, self._arrived_bytes)
        self._in_head, self._in_body, self._arrived_bytes = False, True, 0
        if self._head_bytes:
            self._count_head(0)
        super().on_headers_complete()
        self.cycle.transport = self._outlet  # type: ignore[assignment]
        if self._whole_packet and self.cycle.keep_alive:
            recording = _channel(self.cycle).recording = RecordingOutlet(self._outlet, self._whole_packet)
            self.cycle.transport = recording  # type: ignore[assignment]
        if self._stopping:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._arrived_bytes -= len(body) * (1 + FRAMING_EACH)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.should_upgrade():
            return
        self._in_body = False
        if self._active is self.cycle:
            self._deadline.within(self._patience, self._time_out_answer)
        super().on_message_complete()

    # Answers

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active, self._patience = cycle, ANSWER_SECONDS
        if not self._accepted.request(is_probe=cycle.scope["path"] in PROBE_PATHS):
            self._delayed_start = lambda: self._start(cycle, app)
            self._deadline.within(self._endpoint.read_timeout or ANSWER_SECONDS, self._evict)
            self.flow.pause_reading()
            return
        if not self._accepted.has_slot:
            cycle.keep_alive = False
        self._start(cycle, app)

    def _start(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Call the application, and set the deadline of its response.

        The deadline includes the time for the body, because an application that ignores the body sets no deadline for it.
        """
        seconds = 0.0 if cycle.more_body and not self._endpoint.read_timeout else self._patience
        self._deadline.within(seconds + self._endpoint.read_timeout if cycle.more_body else seconds, self._time_out_answer)

        async def serve(scope: Any, receive: Any, send: Any) -> None:
            async def sending(message: Any) -> None:
                if cycle.more_body and message["type"] == "http.response.start":
                    # The rest of the body is not read, so the beginning of a next request is unknown, and the connection must close.
                    cycle.keep_alive = False
                await send(message)
                if message.get("more_body"):
                    self._deadline.within(self._patience, self._time_out_answer)

            await app(scope, receive, sending)

        super()._start_asgi_task(cycle, serve)

    def _answer_within(self, seconds: float) -> None:
        self._patience = seconds
        self._deadline.within(seconds, self._time_out_answer)

    def _write_part(self, chunk: bytes) -> bool:
        """Write a chunk of the current response if this is possible without waiting. Return whether the chunk was written."""
        cycle = self._active
        if cycle is None or not cycle.chunked_encoding or cycle.response_complete or self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(chunk)
        self._deadline.within(self._patience, self._time_out_answer)
        return True

    def on_response_complete(self) -> None:
        self._active = None
        if self._ignores_input and not self.pipeline:
            self.server_state.total_requests += 1
            return
        self._deadline.clear()
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_unless_flushed()
        elif self._in_head and self._active is None:
            self._unset_keepalive_if_required()
            self._deadline.within(self._endpoint.read_timeout, self._time_out_request)

    def _start_delayed(self) -> None:
        start, self._delayed_start = self._delayed_start, None
        if start:
            self.flow.resume_reading()
            start()

    def _evict(self) -> None:
        if self._delayed_start:
            self._delayed_start = None
            self._send_error(503, f"all {self._endpoint.limit} connections of this listener are in use (listen_limit)")
        else:
            self.transport.abort()

    def _time_out_answer(self) -> None:
        active = self._active
        if active is None:
            return
        logger.warning("no answer to a request from %s within %g s: closing its connection", self._peer, self._patience)
        if active.response_started:
            self.transport.abort()
        else:
            self._disconnect_application(active)
            self._send_error(503, f"no answer within {self._patience:g} seconds; a change that has begun continues")

    # Refusals

    def _time_out_request(self) -> None:
        if not self.transport.is_closing():
            self._refuse(408, f"request did not arrive within {self._endpoint.read_timeout:g} seconds")

    def _refuse(self, status: int, message: str) -> None:
        """Send an error response and close the connection.

        If earlier responses are in progress, send no error response, and close the connection after the last of these responses.
        """
        level = logging.INFO if status == 408 else logging.WARNING
        logger.log(level, "bad request from %s: %d %s", self._peer, status, message)
        broken = self.cycle if self._in_body else None
        if broken is not None and self.pipeline and self.pipeline[0][0] is broken:
            self.pipeline.popleft()
            broken = None
        if broken is None and self._active is None:
            self._send_error(status, message)
        elif broken is not None and broken is self._active and not broken.response_started:
            self._disconnect_application(broken)
            self._send_error(status, message)
        else:
            self._stop_listening()

    def _stop_listening(self) -> None:
        """Read no more requests, and close the connection after the responses in progress."""
        self._ignores_input = True
        last = self.pipeline[0][0] if self.pipeline else self._active
        if last is not None:
            last.keep_alive = False

    def _disconnect_application(self, cycle: RequestResponseCycle) -> None:
        """Report to the application that the client has disconnected. Anything that the application sends afterwards is discarded."""
        cycle.disconnected = True
        cycle.message_event.set()
        self._cancel_work(cycle)

    def _cancel_work(self, cycle: RequestResponseCycle) -> None:
        """Cancel the work on a response that no client will read."""
        if when_gone := _channel(cycle).when_gone:
            when_gone()

    # The end of the connection

    def pause_writing(self) -> None:
        """Abort the connection after `write_timeout` unless the client reads meanwhile.

        asyncio calls this when the write buffer is full.
        """
        super().pause_writing()
        if self._endpoint.write_timeout and self._write_timer is None:
            self._write_timer = self.loop.call_later(self._endpoint.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        self._cancel_write_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection. Abort it if the client has not read the last response, because closing would wait for the client."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _cancel_write_timer(self) -> None:
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
        """Close the connection.

        If the client is still sending, wait up to LINGER_SECONDS first, because a reset could discard the response.
        """
        if self.transport.is_closing():
            return
        self._count_head(0)
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
        self._abort_unless_flushed()

    def _abort_unless_flushed(self) -> None:
        """Abort a closing connection if it cannot send its buffered data within `write_timeout`."""
        self._deadline.within(self._endpoint.write_timeout or CLOSING_SECONDS, self.transport.abort)


def _channel(cycle: RequestResponseCycle) -> Channel:
    channel: Channel = cycle.scope[EXCHANGE]  # type: ignore[literal-required]
    return channel
