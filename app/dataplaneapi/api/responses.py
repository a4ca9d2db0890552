"""Define the responses of handlers: status, headers in their canonical spelling, and a body.

The body is bytes (`Response`), a value to encode as JSON (`Reply`), a file (`FileResponse`) or a stream (`StreamResponse`). A JSON body
ends with a newline. A response without a body has no content type.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from itertools import chain
from typing import Any, BinaryIO, Self

from aiofiles.threadpool import wrap
from starlette.responses import Response as StarletteResponse
from starlette.types import Receive, Scope, Send

from dataplaneapi.api.etags import FileTags, holds, tag_of
from dataplaneapi.server.connection import Channel, WritePart
from haproxy_native.abandonment import check
from haproxy_native.threads import LARGE, run_in_thread_if


class HeaderName(bytes):
    """A header name that keeps its spelling. Uvicorn calls `lower` on the names that it sends, but scripts search for `Reload-Id:`."""

    def lower(self) -> bytes:
        return self


CONTENT_TYPE, CONTENT_LENGTH = HeaderName(b"Content-Type"), b"content-length"
ETAG = HeaderName(b"ETag")
CONFIGURATION_VERSION = HeaderName(b"Configuration-Version")
CONFIGURATION_CHECKSUM = HeaderName(b"Configuration-Checksum")
LOCATION = HeaderName(b"Location")
RETRY_AFTER = HeaderName(b"Retry-After")
RELOAD_ID = HeaderName(b"Reload-Id")
UNPARSED_LINES = HeaderName(b"X-Unparsed-Lines")
JSON, TEXT, OCTETS = b"application/json", b"text/plain", b"application/octet-stream"
# The type of the ASGI message that passes a response from FastAPI to the layers around it. These send the response.
RESPONSE = "dataplaneapi.response"
PIECE = 1 << 18
# `json_pieces` yields a piece as soon as it exceeds HALF characters. One more part has at most HALF characters, so a piece has about LARGE.
HALF = LARGE // 2
# How many members of a large list one call encodes: at first, and at most.
FIRST, MEMBERS = 8, 256
# The longest body in bytes that is hashed in the event loop. A longer body is hashed in a thread.
HASHED_AT_ONCE = 1 << 16

Header = tuple[bytes, bytes]
# Browsers must not guess another content type, show a response in a frame, or store it.
NOSNIFF, NO_FRAMES = (HeaderName(b"X-Content-Type-Options"), b"nosniff"), (HeaderName(b"X-Frame-Options"), b"DENY")
CACHE_CONTROL = HeaderName(b"Cache-Control")
NO_STORE = (CACHE_CONTROL, b"no-store")
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def protection(sent: Iterable[Header]) -> list[Header]:
    """Return the headers that protect a response in browsers and caches.

    `no-store` is one of them, unless `sent`, the headers of the response, contain Cache-Control.
    """
    return [NOSNIFF, NO_FRAMES] if any(name == CACHE_CONTROL for name, _ in sent) else [NOSNIFF, NO_FRAMES, NO_STORE]


class Response(StarletteResponse):
    """A response whose body is bytes."""

    # Whether the response remains valid until the configuration changes.
    cacheable = False
    # The operation, if the response is cached.
    operation: Any = None
    # How many bytes of the body were written directly to the connection, and not sent as ASGI messages.
    written = 0
    # The entity tag of the body. None before it is computed.
    etag: str | None = None
    background = None

    def __init__(self, status: int, body: bytes | None = None, media_type: bytes = JSON, headers: Iterable[Header] = ()) -> None:
        self.status_code = status
        self.body = body or b""
        self.raw_headers = list(headers)
        if body is not None:
            self.raw_headers.append((CONTENT_TYPE, media_type))
        if status >= 200 and status not in (204, 304):
            self.raw_headers.append((CONTENT_LENGTH, b"%d" % len(self.body)))

    @property
    def content_type(self) -> bytes:
        """The media type of the body, without parameters. Empty if the response has no body."""
        return next((value.partition(b";")[0] for name, value in self.raw_headers if name == CONTENT_TYPE), b"")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the response to the layers around FastAPI, which send it with `send_to`. FastAPI calls this."""
        await send({"type": RESPONSE, "response": self})

    async def send_to(self, channel: Channel, send: Send, if_none_match: str | None = None) -> None:
        """Send the response, or 304 if `if_none_match` matches its ETag.

        `if_none_match` is the value of the request header, or an empty text if the request lacks the header. If it is None, the response
        gets no ETag.
        """
        if if_none_match is not None:
            if self.etag is None:
                in_thread = len(self.body) > HASHED_AT_ONCE
                self.tag(await asyncio.to_thread(tag_of, self.body) if in_thread else tag_of(self.body))
            if self.is_known(if_none_match):
                await self.unmodified().send_to(channel, send)
                return
        await self._send_body(send)

    async def complete(self) -> Self:
        """Encode the body unless it is bytes already. Return the response itself."""
        return self

    def tagged(self) -> Self:
        """Add the ETag of the body. Return the response itself."""
        self.tag(tag_of(self.body))
        return self

    def tag(self, etag: str) -> None:
        """Add the ETag to the headers, unless the response has one."""
        if self.etag is None:
            self.etag = etag
            self.raw_headers.append((ETAG, etag.encode()))

    def is_known(self, if_none_match: str) -> bool:
        """Return whether `if_none_match`, the value of the request header, matches the ETag. An empty value matches no ETag."""
        return bool(if_none_match) and holds(if_none_match, self.etag or "", weakly=True)

    def unmodified(self) -> "Response":
        """Return the response 304 (Not Modified) with the headers of this response."""
        return Response(304, headers=[header for header in self.raw_headers if header[0] not in (CONTENT_TYPE, CONTENT_LENGTH)])

    def close(self) -> None:
        """Release the resources of a response that is not sent."""

    async def _send_body(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body})


class Reply(Response):
    """A response with a value that `complete` encodes as JSON.

    Until then, a layer can remove from the value what the caller may not see.
    """

    def __init__(self, status: int, value: Any, headers: Iterable[Header] = ()) -> None:
        self.status_code, self.value, self.body = status, value, b""
        self.raw_headers = [*headers, (CONTENT_TYPE, JSON)]

    async def complete(self) -> Self:
        """Encode the value, in a thread if it is large. Return the response itself."""
        if not self.body:
            self.body = await run_in_thread_if(is_large(self.value), to_json, self.value)
            self.raw_headers.append((CONTENT_LENGTH, b"%d" % len(self.body)))
            self.value = None
        return self


_file_tags = FileTags()


class FileResponse(Response):
    """A response with the content of a file, which it reads while it is sent."""

    def __init__(self, file: BinaryIO) -> None:
        """Create the response. The response owns `file`, and closes the file after sending it. Raises OSError."""
        super().__init__(200, b"", OCTETS)
        self._file, self._size = file, os.fstat(file.fileno()).st_size
        self.raw_headers[-1] = (CONTENT_LENGTH, b"%d" % self._size)

    def close(self) -> None:
        self._file.close()

    async def send_to(self, channel: Channel, send: Send, if_none_match: str | None = None) -> None:
        """Send the file. Raises OSError if the file becomes shorter meanwhile."""
        with self._file:
            if if_none_match is not None and self.etag is None:
                self.tag(await asyncio.to_thread(_file_tags.of, self._file))
            await super().send_to(channel, send, if_none_match)

    async def _send_body(self, send: Send) -> None:
        left, file = self._size, wrap(self._file)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while left:
            piece = await file.read(min(left, PIECE))
            if not piece:
                raise OSError(f"{self._file.name} became shorter while it was read")
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": left > 0})
        if not self._size:
            await send({"type": "http.response.body", "body": b""})


Parts = Callable[[WritePart | None], AsyncGenerator[bytes]]


class StreamResponse(Response):
    """A response whose body is a stream of parts. Each part is sent as soon as `parts` yields it.

    The argument of `parts` is a function that writes a `chunk` between two parts and does not wait. It is None if the connection has no
    such function.

    `close` is called when the client disconnects or the server stops, and must make `parts` end soon. The server closes the connection if
    `patience` seconds pass between two parts, because `parts` yields none or the client reads too slowly.
    """

    def __init__(self, parts: Parts, close: Callable[[], None], media_type: bytes, headers: Iterable[Header], patience: float) -> None:
        super().__init__(200, b"", media_type, headers)
        self.raw_headers.pop()
        self._parts, self._close, self._patience = parts, close, patience

    async def send_to(self, channel: Channel, send: Send, if_none_match: str | None = None) -> None:
        """Send the parts, without an ETag."""
        channel.at_end = self._close
        channel.answer_within(self._patience)
        if channel.recording:
            channel.recording.discard()
            channel.recording = None
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        def write_counted(data: bytes) -> bool:
            is_written = channel.write_part is not None and channel.write_part(data)
            self.written += len(data) if is_written else 0
            return is_written

        async with aclosing(self._parts(write_counted if channel.write_part else None)) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def chunk(part: bytes) -> bytes:
    """Encode a part of a body as a chunk (RFC 9112, section 7.1)."""
    return b"%x\r\n%b\r\n" % (len(part), part)


def to_json(data: Any) -> bytes:
    """Encode data as one line of JSON. Lone surrogates, which stand for bytes of a file that are not UTF-8, become escapes."""
    return b"".join(json_pieces(data))


def json_pieces(data: Any) -> Iterator[bytes]:
    """Yield the encoded data in pieces of at most about LARGE characters. Raises Abandoned between two pieces.

    One call of the encoder in C blocks the event loop, even from a thread. Pieces keep each call short.
    """
    part, size = list[str](), 0
    for piece in chain(_encoded(data), "\n"):
        part.append(piece)
        size += len(piece)
        if size > HALF:
            check()
            yield "".join(part).encode("utf-8", "backslashreplace")
            part, size = [], 0
    yield "".join(part).encode("utf-8", "backslashreplace")


def _encoded(data: Any) -> Iterator[str]:
    if not is_large(data):
        yield _ENCODE(data)
    elif isinstance(data, str):
        yield '"'
        yield from (_ENCODE(data[start : start + HALF])[1:-1] for start in range(0, len(data), HALF))
        yield '"'
    elif isinstance(data, dict):
        for index, (name, value) in enumerate(data.items()):
            yield ("," if index else "{") + _ENCODE(str(name)) + ":"
            yield from _encoded(value)
        yield "}"
    else:
        # Each call encodes as many members as `is_large` allows.
        yield "["
        start, number = 0, FIRST
        while start < len(data):
            members = data[start : start + number]
            if is_large(members) and len(members) > 1:
                number = len(members) // 2
                continue
            yield "," if start else ""
            yield from _encoded(members[0]) if is_large(members) else [_ENCODE(members)[1:-1]]
            start, number = start + len(members), min(2 * number, MEMBERS)
        yield "]"


def is_large(data: Any) -> bool:
    """Return whether data has too many values, or too long texts, to be encoded in one call."""
    left, parts = LARGE // 16, [data]
    while parts:
        part = parts.pop()
        if isinstance(part, str):
            left -= len(part) // 16
        elif isinstance(part, dict | list | tuple):
            if (left := left - len(part)) < 0:
                return True
            parts += part.values() if isinstance(part, dict) else part
        if left < 0:
            return True
    return False


def json_response(status: int, data: Any, headers: Iterable[Header] = (), *, cacheable: bool = False) -> Reply:
    """Return a response with this data as JSON. If `cacheable`, the response remains valid until the configuration changes."""
    reply = Reply(status, data, headers)
    reply.cacheable = cacheable
    return reply


def empty(status: int, headers: Iterable[Header] = ()) -> Response:
    """Return a response without a body."""
    return Response(status, None, headers=headers)


def reload_headers(reload_id: str | None) -> list[Header]:
    """Return the header with the id of the reload that applies a change. Return no header if the change needs no reload."""
    return [(RELOAD_ID, reload_id.encode())] if reload_id else []
