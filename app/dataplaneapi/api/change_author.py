"""Who asks for a change and why, from a request that was admitted: what history, events and rights go by."""

from collections.abc import Mapping

from starlette.types import Scope

from dataplaneapi.auth.gate import parse_basic
from dataplaneapi.server import connection
from haproxy_native.request_context import Author

MESSAGE = b"x-change-message"
LONGEST_MESSAGE = 500


def of(scope: Scope, headers: Mapping[bytes, bytes]) -> Author:
    """The user, or the name in the client's certificate where the listener asks for no password."""
    over = connection.of(scope)
    credentials = parse_basic(headers.get(b"authorization", b"")) if over.endpoint.basic_auth else None
    name = credentials[0] if credentials else over.name
    return Author(_clean(name), connection.address(scope), scope["request_id"], message(headers.get(MESSAGE, b"")))


def message(sent: bytes) -> str:
    """On one line, without control characters, and of a limited length in characters."""
    return _clean(sent.decode("utf-8", "replace"))[:LONGEST_MESSAGE].rstrip()


def _clean(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
