"""A call that is described in the body of another: made (`served`), or tried up to its first change (`verdict`)."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from starlette.types import Message, Scope

from dataplaneapi.api import asked
from dataplaneapi.api.call import JSON, Call
from dataplaneapi.api.errors import ApiError, response_to
from dataplaneapi.api.responses import Header, to_json
from dataplaneapi.api.upload import MULTIPART, PART
from dataplaneapi.auth.caller import Caller
from haproxy_native import abandonment, rehearsal
from haproxy_native.disk.aside import drafts_aside
from haproxy_native.errors import NativeError
from haproxy_native.rehearsal import Rehearsal, Rehearsed
from haproxy_native.request_context import Author, Request, author

TEXT = "text/plain"
# What the calls of one connection have in common.
_SHARED = ("type", "http_version", "scheme", "client", "server", "root_path", "connection", "address", "app", "request_id")
# Characters of a path with its query that are sent as they are.
_SAFE = "/?%:@!$&'()+,*;=~[]"


@dataclass(frozen=True)
class Described:
    """`path` with its query. A `body` that is a text is sent as it is, anything else as JSON; with `file` as a form with a file of that
    name.
    """

    method: str
    path: str
    body: Any = None
    content_type: str = ""
    file: str = ""

    @property
    def data(self) -> bytes:
        if self.body is None:
            return b""
        return self._form(self._content) if self.file else self._content

    @property
    def _content(self) -> bytes:
        return self.body.encode("utf-8", "surrogatepass") if isinstance(self.body, str) else to_json(self.body)

    @cached_property
    def _boundary(self) -> str:
        return uuid4().hex

    def _form(self, content: bytes) -> bytes:
        name = self.file.translate({ord(sign): quote(sign) for sign in '"\r\n'})
        head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{PART}"; filename="{name}"\r\n\r\n'
        return head.encode("utf-8", "surrogatepass") + content + f"\r\n--{self._boundary}--\r\n".encode()

    def scope(self, outer: Scope, caller: Caller) -> Scope:
        path, _, query = quote(self.path, safe=_SAFE).partition("?")
        kind = self.content_type or (TEXT if isinstance(self.body, str) else JSON)
        if self.file:
            kind = f"{MULTIPART}; boundary={self._boundary}"
        headers = [(b"content-type", kind.encode("latin-1", "replace")), (b"content-length", b"%d" % len(self.data))]
        own = {
            "method": self.method,
            "path": unquote(path, errors="replace"),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": headers if self.body is not None else [],
            "caller": caller,
        }
        return {name: outer[name] for name in _SHARED if name in outer} | own


@dataclass(frozen=True)
class Verdict:
    """What would be answered, with the message of an error. `reloads`: whether HAProxy would be reloaded, None where it is not known."""

    status: int
    message: str = ""
    reloads: bool | None = None


async def verdict(call: Call, described: Described, by: Author, caller: Caller) -> Verdict:
    """On a call by this author; nothing is changed. `call` is the one that asks."""
    return await abandonment.create_task(_verdict(call, described, by, caller))


async def _verdict(call: Call, described: Described, by: Author, caller: Caller) -> Verdict:
    author.set(by)
    rehearsal.wanted.set(wanted := Rehearsal())
    try:
        async with drafts_aside():
            answer = await served(call, described, caller)
    except Rehearsed:
        return Verdict(200, reloads=wanted.reloads)
    return Verdict(answer.status, _message(answer.body)) if answer.status >= 400 else Verdict(answer.status, reloads=False)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Sequence[Header]
    body: bytes


async def served(call: Call, described: Described, caller: Caller) -> Answer:
    """The answer to it by the application of the call that describes it, for the present author."""
    scope = described.scope(call.scope, caller)
    # Its own request, for what the author may know of depends on what is asked for.
    token = author.set(replace(author.get(), request=Request(asked.path_of(scope))))
    try:
        return await _answered(call, described, scope)
    finally:
        author.reset(token)


async def _answered(call: Call, described: Described, scope: Scope) -> Answer:
    sent: list[Message] = []
    left = [described.data]

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": left.pop(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    try:
        await AsyncExitStackMiddleware(call.scope["app"].dispatch.serve)(scope, receive, send)
    except (ApiError, NativeError) as error:
        response = response_to(error)
        return Answer(response.status_code, response.raw_headers, bytes(response.body))
    start = next(message for message in sent if message["type"] == "http.response.start")
    body = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    return Answer(start["status"], [*start["headers"], *scope.get("ignored", ())], body)


def _message(body: bytes) -> str:
    return str(json.loads(body)["message"])
