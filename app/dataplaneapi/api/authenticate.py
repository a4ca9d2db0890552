"""Authenticate requests, and limit what each caller may use at the same time.

The author of a request is its caller, with the permissions of that caller. The history and events record the author.
"""

from collections import defaultdict
from typing import Any

from dataplaneapi.api.exchange import Exchange, Next
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from dataplaneapi.auth.caller import CallAuthor, Caller
from dataplaneapi.settings.roles import CERTIFICATES, SPIFFE
from haproxy_native import shares
from haproxy_native.request_context import Request

MESSAGE = b"x-change-message"
LONGEST_MESSAGE = 500


async def authenticate(services: Services, exchange: Exchange, next: Next) -> Response:
    """Refuse wrong credentials, and set the author of a request."""
    caller = None
    if exchange.connection.endpoint.basic_auth:
        result = await services.gate.authenticate(exchange.headers.get(b"authorization", b""), exchange.address)
        if isinstance(result, Response):
            return result
        caller = result
    exchange.author = author_of(exchange, caller, services)
    return await next(exchange)


def author_of(exchange: Exchange, caller: Caller | None, services: Services) -> CallAuthor:
    """Return the author of a request, with the permissions of the caller's roles.

    On a listener without `basic_auth`, `caller` is None, and the certificate of the client names the caller.
    """
    connection = exchange.connection
    caller = caller or Caller(SPIFFE if connection.is_spiffe else CERTIFICATES, connection.name)
    return CallAuthor(
        caller.name,
        exchange.address,
        exchange.request_id,
        message(exchange.headers.get(MESSAGE, b"")),
        rights=caller.rights(services.roles),
        group=caller.group,
        request=Request(exchange.raw_path.decode("latin-1")),
        caller=caller,
    )


def message(sent: bytes) -> str:
    """Return a change message as one line without control characters, truncated to LONGEST_MESSAGE characters."""
    text = "".join(sign if sign.isprintable() else " " for sign in sent.decode("utf-8", "replace"))
    return " ".join(text.split())[:LONGEST_MESSAGE].rstrip()


class Shares:
    """The layer that limits each caller's concurrent requests, and the bytes of their bodies.

    A request counts until its response is sent.
    """

    def __init__(self) -> None:
        # One pool for each listener, because each listener has its own limit.
        self._requests = defaultdict[Any, shares.Pool](lambda: shares.Pool("requests under way (listen_limit)"))
        self._bodies = shares.Pool("bytes in bodies of requests under way")

    async def __call__(self, exchange: Exchange, next: Next) -> Response:
        """Pass on a request and send its response. Raises ShareExceeded."""
        endpoint, caller = exchange.connection.endpoint, shares.Account.from_author(exchange.author)
        with self._requests[endpoint.socket_address].hold(caller) as requests, self._bodies.hold(caller) as exchange.body_share:
            requests.add(1, endpoint.limit)
            response = await next(exchange)
            await exchange.respond(response)
        return response
