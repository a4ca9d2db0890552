"""Who asks for a change and why, from a request that was admitted: what history, events and rights go by."""

from collections.abc import Mapping

from starlette.types import Scope

from dataplaneapi.auth.gate import parse_basic
from dataplaneapi.server import connection
from dataplaneapi.settings.roles import CERTIFICATES, SPIFFE, USERS, Roles
from haproxy_native.request_context import Author

MESSAGE = b"x-change-message"
LONGEST_MESSAGE = 500


def of(scope: Scope, headers: Mapping[bytes, bytes], roles: Roles | None = None) -> Author:
    """The user, or the name in the client's certificate where the listener asks for no password, with the rights of its roles."""
    over = connection.of(scope)
    credentials = parse_basic(headers.get(b"authorization", b"")) if over.endpoint.basic_auth else None
    name = credentials[0] if credentials else over.name
    group = _group(name, is_user=credentials is not None)
    rights = roles.rights(group, name) if roles else None
    return Author(
        _clean(name), connection.address(scope), scope["request_id"], message(headers.get(MESSAGE, b"")), rights=rights, group=group
    )


def _group(name: str, *, is_user: bool) -> str:
    """The one of those in role_of that the name belongs to."""
    if is_user:
        return USERS
    return SPIFFE if name.startswith("spiffe://") else CERTIFICATES


def message(sent: bytes) -> str:
    """On one line, without control characters, and of a limited length in characters."""
    return _clean(sent.decode("utf-8", "replace"))[:LONGEST_MESSAGE].rstrip()


def _clean(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
