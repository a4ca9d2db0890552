"""Access lines in Apache's log format: a format is compiled once into functions of a request and its response."""

import re
import urllib.parse
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.types import Scope

from dataplaneapi.server import connection
from dataplaneapi.settings.proxies import UNIX

if TYPE_CHECKING:
    from dataplaneapi.api.exchange import Exchange

DEFAULT = '%h %l %u %t "%m %U%q %H" %>s %b "%{Referer}i" "%{User-agent}i"'
# Letters of a path, a query or a header in a line.
LONGEST = 1000
_PART = re.compile(r"%(?:\{([^}]*)\})?(>s|[%bDhHlmpqrstTuUvVioe])")
Writer = Callable[[Scope, "Exchange", float], str]


def line(parts: Sequence["str | Writer"], scope: Scope, exchange: "Exchange", seconds: float) -> str:
    return "".join(part if isinstance(part, str) else part(scope, exchange, seconds) for part in parts)


def fields(scope: Scope, exchange: "Exchange", seconds: float) -> dict[str, str | int | float]:
    """What an access line tells, by name, for layouts of fields; `duration` in seconds. What is not known is left out."""
    values = {
        "client": _client(scope, exchange, seconds),
        "user": _user(scope, exchange, seconds),
        "method": scope["method"],
        "path": _path(scope),
        "query": _query(scope).removeprefix("?"),
        "protocol": f"HTTP/{scope['http_version']}",
        "user_agent": _sent(exchange, "user-agent"),
        "referer": _sent(exchange, "referer"),
    }
    known = {name: value for name, value in values.items() if value not in ("", "-")}
    return {**known, "status": exchange.status, "size": exchange.size, "duration": round(seconds, 6)}


def compiled(layout: str) -> list[str | Writer]:
    """The parts of a format; ValueError when it names a directive that is not known."""
    parts: list[str | Writer] = []
    end = 0
    for match in _PART.finditer(layout):
        parts += [layout[end : match.start()], _writer(match[1], match[2])]
        end = match.end()
    parts.append(layout[end:])
    if any(isinstance(part, str) and "%" in part for part in parts):
        raise ValueError(f"acl_format {layout!r} holds an unknown directive")
    return parts


def _writer(name: str | None, directive: str) -> Writer:
    if name is None:
        return _PLAIN[directive]
    if directive == "t":
        return lambda scope, exchange, seconds: datetime.now().astimezone().strftime(name)
    if directive == "T":
        scale = {"s": 1, "ms": 1e3, "us": 1e6}.get(name, 1)
        return lambda scope, exchange, seconds: str(int(seconds * scale))
    if directive == "i":
        return lambda scope, exchange, seconds: _sent(exchange, name)
    if directive == "o":
        return lambda scope, exchange, seconds: _quoted(
            next((value for key, value in exchange.sent_headers if bytes(key).lower() == name.lower().encode()), b"-")
        )
    return lambda scope, exchange, seconds: "-"


def _sent(exchange: "Exchange", name: str) -> str:
    """A request header; never the credentials."""
    secret = name.lower() in ("authorization", "proxy-authorization", "cookie")
    return "-" if secret else _quoted(exchange.headers.get(name.lower().encode(), b"-"))


def _quoted(value: bytes) -> str:
    return short(value.decode("latin-1")).replace('"', '\\"')


def short(text: str) -> str:
    """What a client can make long, so that no line is."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _client(scope: Scope, exchange: "Exchange", seconds: float) -> str:
    address = connection.address(scope)
    return address if address != UNIX else "-"


def _user(scope: Scope, exchange: "Exchange", seconds: float) -> str:
    """Who was let in: the name of the client certificate, else of the user whose password was right, or of the token."""
    if exchange.status == 401:
        return "-"
    by = scope.get("author") if exchange.authenticated else None
    return (connection.of(scope).name or (by.name if by else "") or "-").replace('"', '\\"')


def _query(scope: Scope) -> str:
    return "?" + short(scope["query_string"].decode("latin-1")) if scope["query_string"] else ""


def _request_line(scope: Scope) -> str:
    return f"{scope['method']} {short(scope['raw_path'].decode('latin-1'))}{_query(scope)} HTTP/{scope['http_version']}"


def _server(place: int) -> Writer:
    return lambda scope, exchange, seconds: str(scope["server"][place]) if scope.get("server") else "-"


def _path(scope: Scope) -> str:
    return urllib.parse.quote(short(scope["path"]), safe="/:@!$&'()+*,;=~")


_PLAIN: dict[str, Writer] = {
    "%": lambda scope, exchange, seconds: "%",
    "b": lambda scope, exchange, seconds: str(exchange.size or "-"),
    "D": lambda scope, exchange, seconds: str(int(seconds * 1e6)),
    "h": _client,
    "H": lambda scope, exchange, seconds: f"HTTP/{scope['http_version']}",
    "l": lambda scope, exchange, seconds: "-",
    "m": lambda scope, exchange, seconds: scope["method"],
    "p": _server(1),
    "q": lambda scope, exchange, seconds: _query(scope),
    "r": lambda scope, exchange, seconds: _request_line(scope),
    "s": lambda scope, exchange, seconds: str(exchange.status),
    ">s": lambda scope, exchange, seconds: str(exchange.status),
    "t": lambda scope, exchange, seconds: datetime.now().astimezone().strftime("[%d/%b/%Y:%H:%M:%S %z]"),
    "T": lambda scope, exchange, seconds: str(int(seconds)),
    "u": _user,
    "U": lambda scope, exchange, seconds: _path(scope),
    "v": _server(0),
    "V": _server(0),
    "i": lambda scope, exchange, seconds: "-",
    "o": lambda scope, exchange, seconds: "-",
    "e": lambda scope, exchange, seconds: "-",
}
