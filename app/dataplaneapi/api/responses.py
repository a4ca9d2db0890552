"""What a handler returns: a status, headers in their canonical spelling and a body that is already bytes.

JSON bodies end with a newline; an answer without a body has no content type.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any, BinaryIO, Self

from aiofiles.threadpool import wrap
from starlette.responses import Response as StarletteResponse
from starlette.types import Receive, Scope, Send

from dataplaneapi.api.etags import FileTags, holds, tag_of


class HeaderName(bytes):
    """A header name that keeps its capitals: uvicorn lowers every name it sends, and scripts grep for `Reload-Id:`."""

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
PIECE = 1 << 18
# So many members of a list or an object are encoded at once.
MEMBERS = 256
# A longer body is hashed in a thread.
HASHED_AT_ONCE = 1 << 16

Header = tuple[bytes, bytes]
# No browser guesses another type than the one that is named, shows an answer within another page, or keeps it.
NOSNIFF, NO_FRAMES = (HeaderName(b"X-Content-Type-Options"), b"nosniff"), (HeaderName(b"X-Frame-Options"), b"DENY")
CACHE_CONTROL = HeaderName(b"Cache-Control")
NO_STORE = (CACHE_CONTROL, b"no-store")
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def protection(sent: Iterable[Header]) -> list[Header]:
    """Return the headers that protect a response in browsers and caches; one with a Cache-Control of its own may be kept."""
    return [NOSNIFF, NO_FRAMES] if any(name == CACHE_CONTROL for name, _ in sent) else [NOSNIFF, NO_FRAMES, NO_STORE]


class Response(StarletteResponse):
    """A response whose body is complete.

    `cacheable`: it stays the same as long as the configuration does; one that is kept names the `operation` that it answers.
    `written`: bytes that were not sent as messages. `etag`: of the body, once it was sent in answer to a GET.
    """

    cacheable = False
    operation: Any = None
    written = 0
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends itself, or that it is what the client has; `scope["response"]` is it from then on."""
        scope["response"] = self
        if "operation" in scope and scope["method"] == "GET" and self.status_code == 200:
            if self.etag is None:
                self.tag(await self._hash())
            if self.is_known(scope):
                await self.unmodified()._send_body(scope, receive, send)
                return
        await self._send_body(scope, receive, send)

    async def _hash(self) -> str:
        return tag_of(self.body) if len(self.body) <= HASHED_AT_ONCE else await asyncio.to_thread(tag_of, self.body)

    def tagged(self) -> Self:
        """Itself, with the tag of its body."""
        self.tag(tag_of(self.body))
        return self

    def tag(self, etag: str) -> None:
        if self.etag is None:
            self.etag = etag
            self.raw_headers.append((ETAG, etag.encode()))

    def is_known(self, scope: Scope) -> bool:
        """Whether the client has this answer, by its `If-None-Match`."""
        known = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match"]
        return bool(known) and holds(",".join(known), self.etag or "", weakly=True)

    def unmodified(self) -> "Response":
        """What a client gets that has this answer."""
        return Response(304, headers=[header for header in self.raw_headers if header[0] not in (CONTENT_TYPE, CONTENT_LENGTH)])

    async def _send_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)


_file_tags = FileTags()


class FileResponse(Response):
    """A file as it is, read while it is sent."""

    def __init__(self, file: BinaryIO) -> None:
        """Closes the file when it is sent. Raises OSError."""
        super().__init__(200, b"", OCTETS)
        self._file, self._size = file, os.fstat(file.fileno()).st_size
        self.raw_headers[-1] = (CONTENT_LENGTH, b"%d" % self._size)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises OSError when the file becomes shorter while it is sent."""
        with self._file:
            await super().__call__(scope, receive, send)

    async def _hash(self) -> str:
        return await asyncio.to_thread(_file_tags.of, self._file)

    async def _send_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        left, file = self._size, wrap(self._file)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while left:
            piece = await file.read(min(left, PIECE))
            if not piece:
                raise OSError(f"{self._file.name} has become shorter while it was read")
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": left > 0})
        if not self._size:
            await send({"type": "http.response.body", "body": b""})


WritePart = Callable[[bytes], bool]
Parts = Callable[[WritePart | None], AsyncGenerator[bytes]]


class StreamResponse(Response):
    """Parts that are sent as they come, until there are no more. `close` makes them end soon: the client has left, or the server stops.

    `parts` gets a function that writes a `chunk` between two parts, without a wait, or None where the connection has none.
    A client that takes a part for longer than `patience`, in seconds, is cut off; the next part is to come sooner.
    """

    def __init__(self, parts: Parts, close: Callable[[], None], media_type: bytes, headers: Iterable[Header], patience: float) -> None:
        super().__init__(200, b"", media_type, headers)
        self.raw_headers.pop()
        self._parts, self._close, self._patience = parts, close, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["response"], scope["at_end"] = self, self._close
        if answer_within := scope.get("answer_within"):
            answer_within(self._patience)
        if recording := scope.pop("recording", None):
            recording.forget()
        # A configuration that is replaced meanwhile is not kept for the sake of one answer.
        scope.pop("document", None)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._parts(self._counting(scope.get("write_part")))) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _counting(self, write: WritePart | None) -> WritePart | None:
        def counted(data: bytes) -> bool:
            is_written = write is not None and write(data)
            self.written += len(data) if is_written else 0
            return is_written

        return counted if write else None


def chunk(part: bytes) -> bytes:
    """A part of a body as it goes over the connection (RFC 9112, section 7.1)."""
    return b"%x\r\n%b\r\n" % (len(part), part)


def to_json(data: Any) -> bytes:
    """One line of JSON; bytes of a file that are no UTF-8 travel as lone surrogates, written as escapes."""
    return "".join(_encoded(data)).encode("utf-8", "backslashreplace") + b"\n"


def _encoded(data: Any) -> Iterator[str]:
    """Yields the encoded data in pieces, for a thread: one long call of C code would block the event loop."""
    if isinstance(data, dict) and any(isinstance(part, dict | list) and len(part) > MEMBERS for part in (data, *data.values())):
        for place, (name, value) in enumerate(data.items()):
            yield ("," if place else "{") + _ENCODE(str(name)) + ":"
            yield from _encoded(value)
        yield "}"
    elif isinstance(data, list) and len(data) > MEMBERS:
        for start in range(0, len(data), MEMBERS):
            yield ("," if start else "[") + _ENCODE(data[start : start + MEMBERS])[1:-1]
        yield "]"
    else:
        yield _ENCODE(data)


def json_response(status: int, data: Any, headers: Iterable[Header] = (), *, cacheable: bool = False) -> Response:
    response = Response(status, to_json(data), JSON, headers)
    response.cacheable = cacheable
    return response


def empty(status: int, headers: Iterable[Header] = ()) -> Response:
    return Response(status, None, headers=headers)
