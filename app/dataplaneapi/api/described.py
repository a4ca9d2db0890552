"""Handle calls that the body of another call describes: the calls of a batch, and the call of an access check (`check_described_call`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from starlette.types import Message

from dataplaneapi.api.access import answer_within_rights, require_role
from dataplaneapi.api.call import JSON, Call, Incoming
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.place import with_known_names
from dataplaneapi.api.responses import Response, empty, to_json
from dataplaneapi.api.services import Services
from dataplaneapi.api.upload import MULTIPART, PART
from dataplaneapi.api.write_options import check_options
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.disk.file import drafts_aside
from haproxy_native.errors import READ_ONLY, Forbidden

TEXT = "text/plain"
# Characters of a path with its query that are sent as they are.
_SAFE = "/?%:@!$&'()+,*;=~[]"


@dataclass(frozen=True)
class DescribedCall:
    """A call that the body of another call describes."""

    method: str
    # The path with its query.
    path: str
    # A string is the body itself. Any other value is encoded as JSON. None: the call has no body.
    body: Any = None
    # Empty: `text/plain` for a string, else JSON.
    content_type: str = ""
    # If this is set, the body is the content of a file of this name, in a form.
    file: str = ""

    @cached_property
    def _boundary(self) -> str:
        return uuid4().hex

    @property
    def data(self) -> bytes:
        """The encoded body, in a form if `file` is set."""
        if self.body is None:
            return b""
        content = self.body.encode("utf-8", "surrogatepass") if isinstance(self.body, str) else to_json(self.body)
        if not self.file:
            return content
        name = self.file.translate({ord(sign): quote(sign) for sign in '"\r\n'})
        head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{PART}"; filename="{name}"\r\n\r\n'
        return head.encode("utf-8", "surrogatepass") + content + f"\r\n--{self._boundary}--\r\n".encode()

    def find_operation(self, services: Services) -> tuple[Operation, dict[str, str]]:
        """Return the operation of the call and the values of its path parameters. Raises ApiError (404 or 405)."""
        path, query = self._path_and_query
        operation, values = services.index.find(self.method, path, query)
        return operation, with_known_names(operation, values, services)

    @property
    def query(self) -> bytes:
        return self._path_and_query[1]

    @property
    def _path_and_query(self) -> tuple[bytes, bytes]:
        path, _, query = quote(self.path, safe=_SAFE).partition("?")
        return path.encode(), query.encode()

    def incoming(self, call: Call, operation: Operation, values: Mapping[str, str], author: CallAuthor) -> Incoming:
        """Return the described call as a request by `author`. `call` is the call whose body describes the request."""
        kind = self.content_type or (TEXT if isinstance(self.body, str) else JSON)
        if self.file:
            kind = f"{MULTIPART}; boundary={self._boundary}"
        headers = [(b"content-type", kind.encode("latin-1", "replace")), (b"content-length", b"%d" % len(self.data))]

        async def receive() -> Message:
            return {"type": "http.request", "body": self.data}

        sent = headers if self.body is not None else []
        scope = {"method": self.method, "path": self.path, "raw_path": self._path_and_query[0], "query_string": self.query, "headers": sent}
        exchange = Exchange({**scope, "scheme": call.exchange.scheme}, receive)
        exchange.author, exchange.operation, exchange.path_values = author, operation, values
        return Incoming(call.services, exchange)


async def check_described_call(call: Call, described: DescribedCall, author: CallAuthor) -> bool | None:
    """Check a described call by this author, but do not make the call. `call` is the call whose body describes it.

    Return whether the described call would reload HAProxy, or None if that is unknown. Raises the ApiError or NativeError with which it
    would be refused.
    """
    operation, values = described.find_operation(call.services)
    require_role(author, operation)
    if call.services.settings.read_only and operation.writes and not operation.is_dry(described.query):
        raise Forbidden(READ_ONLY)
    async with drafts_aside():
        made = await operation.reader(described.incoming(call, operation, values, author))
        reloads: bool | None = None

        async def check(made: Call) -> Response:
            nonlocal reloads
            if operation.method == "GET" and (operation.resource or operation.store):
                reloads = False
                return await operation.handler(made)
            check_options(made)
            if operation.check:
                reloads = await operation.check(made)
            return empty(200)

        response = await answer_within_rights(made, check)
        response.close()
    if response.status_code >= 400:
        raise ApiError(response.status_code, str(json.loads(bytes(response.body))["message"]))
    return reloads
