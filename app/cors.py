"""Cross-origin requests of browsers: any origin may ask, credentials come in the header."""

from collections.abc import Mapping

from starlette.types import Scope

from app.answer import Answer, Header, HeaderName

METHODS = frozenset((b"HEAD", b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS"))
VARY = HeaderName(b"Vary")
_ORIGIN = HeaderName(b"Access-Control-Allow-Origin")
_CREDENTIALS = (HeaderName(b"Access-Control-Allow-Credentials"), b"true")
_EXPOSED = (HeaderName(b"Access-Control-Expose-Headers"), b"Reload-Id, Configuration-Version")
_PLAIN: list[Header] = [(VARY, b"Origin")]
_CROSS: list[Header] = [(VARY, b"Origin"), (_ORIGIN, b"*"), _EXPOSED, _CREDENTIALS]
_PREFLIGHT_VARY = (VARY, b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers")


def is_preflight(scope: Scope, sent: Mapping[bytes, bytes]) -> bool:
    return bool(scope["method"] == "OPTIONS" and sent.get(b"access-control-request-method"))


def preflight(scope: Scope, sent: Mapping[bytes, bytes]) -> Answer | None:
    """The answer to a browser's question before its request; None for anything else."""
    if not is_preflight(scope, sent):
        return None
    method, wanted = sent[b"access-control-request-method"], sent.get(b"access-control-request-headers")
    headers: list[Header] = [_PREFLIGHT_VARY]
    if b"origin" in sent and method in METHODS:
        headers += [(_ORIGIN, b"*"), (HeaderName(b"Access-Control-Allow-Methods"), method), _CREDENTIALS]
        headers += [(HeaderName(b"Access-Control-Allow-Headers"), wanted)] if wanted else []
        headers.append((HeaderName(b"Access-Control-Max-Age"), b"86400"))
    return Answer(204, headers=headers)


def headers(scope: Scope, sent: Mapping[bytes, bytes]) -> list[Header]:
    """What any other answer carries."""
    if is_preflight(scope, sent):
        return []
    return _CROSS if b"origin" in sent else _PLAIN
