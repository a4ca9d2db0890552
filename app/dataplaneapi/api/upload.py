"""Receive bodies that are files or forms piece by piece, within the limits of size and time of every body.

`upload_call` creates a call whose body is a file, sent in a form or as the whole body. `text_or_form_call` creates a call whose body is a
text or the parts of a form.

`form_operations` converts a form with texts of the configuration and stored files to operations. Texts are collected in memory. Files are
written to drafts, which the commit publishes. Each part is checked when it begins, before its content arrives.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from fastapi import Depends
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.types import Receive

from dataplaneapi.api.bodies import FILE_BYTES, WHOLE_BYTES, check_content_encoding, check_content_type, pieces, too_large
from dataplaneapi.api.call import Arriving, Call, Incoming, json_call, read_call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.open_engine import STORES
from haproxy_native.changes.file_operations import PutFile
from haproxy_native.changes.operations import PutText, text_as_sent
from haproxy_native.commit.change import Operation
from haproxy_native.disk.file import drafts_aside
from haproxy_native.editing.secrets import refuse_masked_text
from haproxy_native.errors import BadRequest, Exists, NotFound
from haproxy_native.storage.store import Store, Upload, is_file_name
from haproxy_native.threads import run_in_thread

PART = "file_upload"
MULTIPART = "multipart/form-data"
# The most parts of a form, and the most bytes of its boundary (RFC 2046 permits 70).
MOST_PARTS, LONGEST_BOUNDARY = 10_000, 256


class File:
    """A body that is a file, which is received piece by piece. Call `begin` first.

    `name` is the file name that the client gives, or empty if the body is not a form. Every method that reads waits for the client and
    raises ApiError (400, 408, 413).
    """

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self.name, self._first = "", b""
        self._received = pieces(receive, limit, seconds)

    async def begin(self) -> None:
        """Wait for the first piece. Raises ApiError (400) if there is none."""
        async for piece in self._received:
            if piece:
                self._first = piece
                return
        raise ApiError(400, "value is required but missing")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the content."""
        yield self._first
        async for piece in self._received:
            yield piece


@dataclass(frozen=True)
class Part:
    """The beginning of a part of a form. `file` is the file name that the client gives, or None."""

    name: str
    file: str | None


class Parts(File):
    """A form, whose parts are received piece by piece. Iterate over `parts`, then call `check_ended`."""

    def __init__(self, receive: Receive, limit: int, seconds: float, boundary: bytes) -> None:
        super().__init__(receive, limit, seconds)
        self._events: list[Part | bytes] = []
        # The name and value of the header that is arriving.
        self._field, self._value = bytearray(), bytearray()
        self._part = Part("", None)
        self._ended, self._number = False, 0
        callbacks = {
            "on_header_field": lambda data, start, end: self._field.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._finish_header,
            "on_headers_finished": self._begin_part,
            "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
            "on_end": self._finish_form,
        }
        self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]

    async def parts(self) -> AsyncIterator[Part | bytes]:
        """Yield each part, followed by the pieces of its content."""
        async for piece in self._received:
            for each in self.parse(piece):
                yield each

    def check_ended(self) -> None:
        """Raise ApiError (400) for a form that is cut short. Call this after the last of `parts`."""
        if not self._ended:
            raise ApiError(400, "the form ends before its closing boundary")

    def parse(self, data: bytes) -> list[Part | bytes]:
        """Return the parts, and the pieces of their content, in the next bytes of the form. Raises ApiError."""
        self._events = []
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise ApiError(400, f"the form cannot be read: {error}") from None
        return self._events

    def _finish_header(self) -> None:
        if self._field.lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._value))
            file = options[b"filename"].decode("utf-8", "surrogateescape") if b"filename" in options else None
            self._part = Part(options.get(b"name", b"").decode("utf-8", "replace"), file)
        self._field.clear()
        self._value.clear()

    def _begin_part(self) -> None:
        self._number += 1
        if self._number > MOST_PARTS:
            raise ApiError(413, f"the form exceeds the maximum allowed number of {MOST_PARTS} parts")
        self._events.append(self._part)
        self._part = Part("", None)

    def _finish_form(self) -> None:
        self._ended = True


class Form(Parts):
    """A form with a file in the part `file_upload`. Other parts are ignored."""

    def __init__(self, receive: Receive, limit: int, seconds: float, boundary: bytes) -> None:
        super().__init__(receive, limit, seconds, boundary)
        self._rest = self.parts()

    async def begin(self) -> None:
        """Receive the form up to the beginning of the file, and set `name`. Raises ApiError (400) if the form has no file."""
        advice = other = ""
        async for event in self._rest:
            if isinstance(event, Part):
                if event.name == PART and event.file is not None:
                    self.name = event.file
                    return
                if event.name == PART:
                    advice = f"the field {PART} has no filename"
                elif event.file is not None:
                    other = other or f", not in {event.name[:100]!r}"
        advice = advice or f"send it in the field {PART}{other}"
        raise ApiError(400, f"http: no such file; {advice}")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the content, then receive the form to its end. Raises ApiError (400) for a form that is cut short."""
        is_file = True
        async for event in self._rest:
            if isinstance(event, Part):
                is_file = False
            elif is_file:
                yield event
        self.check_ended()


async def upload_call(incoming: Arriving) -> Call:
    """Return a call whose body is a File. Raises ApiError."""
    call, receive = await read_call(incoming), incoming.exchange.receive
    declared = call.operation.body
    assert declared is not None
    limit, kind = _limit(call, incoming), incoming.header(b"content-type")
    seconds = call.services.settings.read_timeout
    file = File(receive, limit, seconds)
    if declared.required:
        await file.begin()
    check_content_encoding(incoming.header(b"content-encoding"))
    check_content_type(kind, declared.media_types)
    if MULTIPART in declared.media_types:
        file = Form(receive, limit, seconds, boundary(kind))
        await file.begin()
    return replace(call, body=file)


async def text_or_form_call(incoming: Arriving) -> Call:
    """Return a call whose body is Parts if the client sends a form, or else the call that `json_call` returns. Raises ApiError."""
    kind = incoming.header(b"content-type")
    if kind.partition(";")[0].strip().lower() != MULTIPART:
        return await json_call(incoming)
    call = await read_call(incoming)
    check_content_encoding(incoming.header(b"content-encoding"))
    limit = _limit(call, incoming)
    return replace(call, body=Parts(incoming.exchange.receive, limit, call.services.settings.read_timeout, boundary(kind)))


def _limit(call: Call, incoming: Incoming) -> int:
    """Return the size limit of the body in bytes, or 0 for no limit. Raises ApiError (413) if Content-Length exceeds the limit."""
    limit = FILE_BYTES if call.services.settings.max_body_size is None else call.services.settings.max_body_size
    length = incoming.header(b"content-length")
    if length.isdigit() and limit and int(length) > limit:
        raise too_large(limit)
    return limit


def boundary(kind: str) -> bytes:
    """Return the boundary of a form's parts from its Content-Type. Raises ApiError (400)."""
    _, options = parse_options_header(kind)
    if value := options.get(b"boundary"):
        if len(value) > LONGEST_BOUNDARY:
            raise ApiError(400, f"the boundary in Content-Type has {len(value)} characters; at most {LONGEST_BOUNDARY} are allowed")
        return value
    raise ApiError(400, "no multipart boundary param in Content-Type")


# The types of a handler's parameter: for a handler that stores a file, and for one that reads a text or a form of several parts.
UploadCall = Annotated[Call, Depends(upload_call)]
TextOrFormCall = Annotated[Call, Depends(text_or_form_call)]


CONFIGURATION = "configuration"


@asynccontextmanager
async def form_operations(call: Call) -> AsyncIterator[Sequence[Operation]]:
    """Yield the operations of the form in a call, as a context manager that removes the drafts of its files at the end.

    Raises ApiError, whose message names the part.
    """
    async with drafts_aside():
        form = ConfigurationForm(call)
        try:
            async for part in call.body.parts():
                if isinstance(part, Part):
                    await form.begin(part)
                else:
                    await form.append(part)
            call.body.check_ended()
            await form.end()
            yield [*form.texts.values(), *form.files]
        finally:
            for upload in form.uploads.values():
                upload.discard()


@asynccontextmanager
async def file_operation(call: Call) -> AsyncIterator[PutFile]:
    """Yield the operation that stores the file in a call, as a context manager that removes the draft at the end. Raises ApiError."""
    stores: Mapping[str, Store] = call.services.engine.stores
    if (store := stores.get(call.path.store)) is None:
        raise ApiError(404, f"there is no store {call.path.store}; expected one of {', '.join(stores)}")
    async with drafts_aside():
        upload = await asyncio.to_thread(store.upload, call.path.name, call.author)
        try:
            async for piece in call.body.pieces():
                await upload.append(piece)
            yield await upload.operation()
        finally:
            upload.discard()


class ConfigurationForm:
    """The texts and files of a form, as they arrive.

    Call `begin` and `append` for each part, and `end` after the last part. Finally, discard each of the `uploads`.
    """

    def __init__(self, call: Call) -> None:
        self.texts: dict[str, PutText] = {}
        self.files: list[PutFile] = []
        self.uploads: dict[Path, Upload] = {}
        self._call = call
        self._largest = WHOLE_BYTES if call.services.settings.max_body_size is None else call.services.settings.max_body_size
        # The part that is arriving: the upload of a file, or the key of its text in `texts`.
        self._upload: Upload | None = None
        self._text: str | None = None
        self._part, self._pieces, self._text_bytes = "", bytearray(), 0

    async def begin(self, part: Part) -> None:
        await self._finish_part()
        self._part = f"part {part.name}" + (f", {part.file}" if part.file else "")
        try:
            if part.name == CONFIGURATION:
                name = self._call.services.engine.resolve_file(part.file or self._call.query.file)
                if name in self.texts:
                    raise BadRequest("the form already has a part for this file of the configuration")
                self._text = name
            else:
                self._upload = upload = await asyncio.to_thread(self._begin_file, part)
                self.uploads[upload.path] = upload
        except (Exists, BadRequest, NotFound) as error:
            raise ApiError(400, f"{self._part}: {error}") from None

    async def append(self, data: bytes) -> None:
        if self._upload:
            return await self._upload.append(data)
        self._pieces += data
        if self._largest and self._text_bytes + len(self._pieces) > self._largest:
            most = f"the maximum allowed size of {self._largest} bytes, which the setting max_body_size changes"
            raise ApiError(413, f"{self._part}: texts exceed {most}")

    async def end(self) -> None:
        await self._finish_part()
        if not self.texts and not self.files:
            raise ApiError(400, f"the form has no part; send {_known_parts()}")

    async def _finish_part(self) -> None:
        """Add the operation of the part that has arrived completely."""
        if (name := self._text) is not None:
            text, self._text, self._pieces = bytes(self._pieces), None, bytearray()
            refuse_masked_text(text)
            self.texts[name] = PutText(name, await run_in_thread(text_as_sent, text))
            self._text_bytes += len(text)
        elif upload := self._upload:
            self._upload = None
            try:
                self.files.append(await upload.operation())
            except BadRequest as error:
                raise ApiError(400, f"{self._part}: {error.detail}") from None

    def _begin_file(self, part: Part) -> Upload:
        """Begin the upload of a file. Blocks for the disk. Raises Exists, BadRequest and Forbidden."""
        if part.name not in STORES:
            raise BadRequest(f"unknown, send {_known_parts()}")
        stores: Mapping[str, Store] = self._call.services.engine.stores
        if part.name not in stores:
            raise BadRequest(f"there is no directory for {part.name}: set dataplaneapi.resources.{STORES[part.name]}")
        if not part.file:
            raise BadRequest("no file name: each of these parts needs one")
        if not is_file_name(part.file):
            raise BadRequest("the file name points outside the directory; send only its last part")
        upload = stores[part.name].upload(part.file, self._call.author)
        if upload.path in self.uploads:
            raise BadRequest(f"the form already has a part for {upload.path.name}")
        return upload


def _known_parts() -> str:
    return ", ".join((CONFIGURATION, *STORES))
