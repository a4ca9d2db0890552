"""Permit CORS for the origins in the setting `cors_origins`, and prevent cross-site request forgery (CSRF) by pages of other origins.

A request with neither `Origin` nor `Sec-Fetch-Site` does not come from a browser, and is not checked.
"""

from collections.abc import Collection, Mapping

from dataplaneapi.api.errors import error_response
from dataplaneapi.api.exchange import Exchange, Next
from dataplaneapi.api.responses import Header, HeaderName, Response
from dataplaneapi.api.services import Services

METHODS = frozenset((b"HEAD", b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS"))
_READING = frozenset(("GET", "HEAD", "OPTIONS"))
VARY = HeaderName(b"Vary")
_ORIGIN = HeaderName(b"Access-Control-Allow-Origin")
_CREDENTIALS = (HeaderName(b"Access-Control-Allow-Credentials"), b"true")
_EXPOSED = (HeaderName(b"Access-Control-Expose-Headers"), b"Reload-Id, Configuration-Version, ETag, Idempotent-Replayed, Fleet-Release")
_PLAIN: list[Header] = [(VARY, b"Origin")]
_PREFLIGHT_VARY = (VARY, b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
Headers = Mapping[bytes, bytes]


async def check_origin(services: Services, exchange: Exchange, next: Next) -> Response:
    """Answer preflight requests, refuse writes by pages of other sites whose origin is not allowed, and pass on all other requests."""
    origins = services.settings.cors_origins
    return preflight(exchange, origins) or refusal(exchange, origins) or await next(exchange)


def is_preflight(exchange: Exchange) -> bool:
    return bool(exchange.method == "OPTIONS" and exchange.headers.get(b"access-control-request-method"))


def preflight(exchange: Exchange, origins: Collection[str]) -> Response | None:
    """Return the response to a preflight request. Return None for any other request."""
    if not is_preflight(exchange):
        return None
    sent = exchange.headers
    method, wanted_headers = sent[b"access-control-request-method"], sent.get(b"access-control-request-headers")
    headers: list[Header] = [_PREFLIGHT_VARY]
    if _is_allowed(sent, origins) and method in METHODS:
        headers += [(_ORIGIN, sent[b"origin"]), (HeaderName(b"Access-Control-Allow-Methods"), method), _CREDENTIALS]
        headers += [(HeaderName(b"Access-Control-Allow-Headers"), wanted_headers)] if wanted_headers else []
        headers.append((HeaderName(b"Access-Control-Max-Age"), b"86400"))
    return Response(204, headers=headers)


def headers(exchange: Exchange, origins: Collection[str]) -> list[Header]:
    """Return the CORS headers of a response. Return no headers for a preflight request, because `preflight` adds them."""
    if is_preflight(exchange):
        return []
    sent = exchange.headers
    return [*_PLAIN, (_ORIGIN, sent[b"origin"]), _EXPOSED, _CREDENTIALS] if _is_allowed(sent, origins) else _PLAIN


def refusal(exchange: Exchange, origins: Collection[str]) -> Response | None:
    """Return the response 403 to a write by a page of another site whose origin is not allowed. Return None for any other request."""
    sent = exchange.headers
    origin, site = sent.get(b"origin"), sent.get(b"sec-fetch-site", b"").lower()
    if exchange.method in _READING or (origin is None and not site) or _is_allowed(sent, origins):
        return None
    if site in (b"same-origin", b"none") or (not site and origin is not None and _is_own(origin, sent.get(b"host", b""))):
        return None
    site_name = (origin or b"another site").decode("latin-1")[:200]
    return error_response(403, f"a page of {site_name} may not make changes: its origin is not in the setting cors_origins")


def _is_allowed(sent: Headers, origins: Collection[str]) -> bool:
    return bool(origins) and sent.get(b"origin", b"").decode("latin-1") in origins


def _is_own(origin: bytes, host: bytes) -> bool:
    """Return whether an origin has the host and port of this server. The scheme may differ, because a proxy may have terminated TLS."""
    scheme, _, address = origin.lower().partition(b"://")
    default = b":443" if scheme == b"https" else b":80"
    return bool(address) and address.removesuffix(default) == host.lower().removesuffix(default)
