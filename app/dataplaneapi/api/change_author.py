"""Who asks for a change and why, from a request that was admitted: what history, events and rights go by."""

from dataplaneapi.api import asked
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.auth.caller import CallAuthor, Caller
from dataplaneapi.auth.gate import Gate
from dataplaneapi.settings.roles import CERTIFICATES, SPIFFE, Roles
from haproxy_native.request_context import Request

MESSAGE = b"x-change-message"
LONGEST_MESSAGE = 500


def of(exchange: Exchange, gate: Gate, roles: Roles | None = None) -> CallAuthor:
    """Return the author of what this request changes, with the rights of its roles.

    The caller is the user or the token, or the name in the client's certificate where the listener asks for no password.
    """
    over = exchange.connection
    known = gate.caller(exchange.headers.get(b"authorization", b"")) if over.endpoint.basic_auth else None
    caller = known or Caller(SPIFFE if over.is_spiffe else CERTIFICATES, over.name)
    return CallAuthor(
        caller.name,
        exchange.address,
        exchange.request_id,
        message(exchange.headers.get(MESSAGE, b"")),
        rights=caller.rights(roles),
        group=caller.group,
        request=Request(asked.path_of(exchange)),
        caller=caller,
    )


def message(sent: bytes) -> str:
    """On one line, without control characters, and of a limited length in characters."""
    text = "".join(sign if sign.isprintable() else " " for sign in sent.decode("utf-8", "replace"))
    return " ".join(text.split())[:LONGEST_MESSAGE].rstrip()
