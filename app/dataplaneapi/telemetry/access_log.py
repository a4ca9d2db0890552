"""Write access lines in Apache's log format. A format is compiled once to functions, whose argument is an answered request."""

import re
import urllib.parse
from collections.abc import Callable, Sequence
from datetime import datetime

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.settings.proxies import UNIX

DEFAULT = '%h %l %u %t "%m %U%q %H" %>s %b "%{Referer}i" "%{User-agent}i"'
# The most characters of a path, a query or a header in an access line.
LONGEST = 1000
_PART = re.compile(r"%(?:\{([^}]*)\})?(>s|[%bDhHlmpqrstTuUvVioe])")
Writer = Callable[[Exchange, float], str]


def line(parts: Sequence["str | Writer"], exchange: Exchange, seconds: float) -> str:
    return "".join(part if isinstance(part, str) else part(exchange, seconds) for part in parts)


def fields(exchange: Exchange, seconds: float) -> dict[str, str | int | float]:
    """Return the content of an access line as fields, for structured formats. `duration` is in seconds. Omit unknown fields."""
    values = {
        "client": _client(exchange, seconds),
        "user": _user(exchange, seconds),
        "method": exchange.method,
        "path": _path(exchange),
        "query": _query(exchange).removeprefix("?"),
        "protocol": f"HTTP/{exchange.http_version}",
        "user_agent": _request_header(exchange, "user-agent"),
        "referer": _request_header(exchange, "referer"),
    }
    known = {name: value for name, value in values.items() if value not in ("", "-")}
    return {**known, "status": exchange.status, "size": exchange.size, "duration": round(seconds, 6)}


def compiled(layout: str) -> list[str | Writer]:
    """Compile a format to its parts: literal texts, and functions that return the text of a directive.

    Raises ValueError for an unknown directive.
    """
    parts: list[str | Writer] = []
    end = 0
    for match in _PART.finditer(layout):
        parts += [layout[end : match.start()], _directive_writer(match[1], match[2])]
        end = match.end()
    parts.append(layout[end:])
    if any(isinstance(part, str) and "%" in part for part in parts):
        raise ValueError(f"acl_format {layout!r} contains an unknown directive")
    return parts


def _directive_writer(name: str | None, directive: str) -> Writer:
    if name is None:
        return _PLAIN[directive]
    if directive == "t":
        return lambda exchange, seconds: datetime.now().astimezone().strftime(name)
    if directive == "T":
        scale = {"s": 1, "ms": 1e3, "us": 1e6}.get(name, 1)
        return lambda exchange, seconds: str(int(seconds * scale))
    if directive == "i":
        return lambda exchange, seconds: _request_header(exchange, name)
    if directive == "o":
        return lambda exchange, seconds: _with_escaped_quotes(
            next((value for key, value in exchange.sent_headers if bytes(key).lower() == name.lower().encode()), b"-")
        )
    return lambda exchange, seconds: "-"


def _request_header(exchange: Exchange, name: str) -> str:
    """Return a request header with its quotes escaped. Return `-` for a missing header and for headers with credentials."""
    secret = name.lower() in ("authorization", "proxy-authorization", "cookie")
    return "-" if secret else _with_escaped_quotes(exchange.headers.get(name.lower().encode(), b"-"))


def _with_escaped_quotes(value: bytes) -> str:
    return short(value.decode("latin-1")).replace('"', '\\"')


def short(text: str) -> str:
    """Truncate a text that a client has sent to LONGEST characters."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _client(exchange: Exchange, seconds: float) -> str:
    return exchange.address if exchange.address != UNIX else "-"


def _user(exchange: Exchange, seconds: float) -> str:
    """Return the name in the client certificate, or else the name of the user or token. Return `-` if the caller has no name."""
    if exchange.status == 401:
        return "-"
    author = exchange.author
    return (exchange.connection.name or (author.name if author else "") or "-").replace('"', '\\"')


def _query(exchange: Exchange) -> str:
    return "?" + short(exchange.query.decode("latin-1")) if exchange.query else ""


def _request_line(exchange: Exchange) -> str:
    return f"{exchange.method} {short(exchange.raw_path.decode('latin-1'))}{_query(exchange)} HTTP/{exchange.http_version}"


def _server(place: int) -> Writer:
    return lambda exchange, seconds: str(exchange.server[place]) if exchange.server else "-"


def _path(exchange: Exchange) -> str:
    return urllib.parse.quote(short(exchange.path), safe="/:@!$&'()+*,;=~")


_PLAIN: dict[str, Writer] = {
    "%": lambda exchange, seconds: "%",
    "b": lambda exchange, seconds: str(exchange.size or "-"),
    "D": lambda exchange, seconds: str(int(seconds * 1e6)),
    "h": _client,
    "H": lambda exchange, seconds: f"HTTP/{exchange.http_version}",
    "l": lambda exchange, seconds: "-",
    "m": lambda exchange, seconds: exchange.method,
    "p": _server(1),
    "q": lambda exchange, seconds: _query(exchange),
    "r": lambda exchange, seconds: _request_line(exchange),
    "s": lambda exchange, seconds: str(exchange.status),
    ">s": lambda exchange, seconds: str(exchange.status),
    "t": lambda exchange, seconds: datetime.now().astimezone().strftime("[%d/%b/%Y:%H:%M:%S %z]"),
    "T": lambda exchange, seconds: str(int(seconds)),
    "u": _user,
    "U": lambda exchange, seconds: _path(exchange),
    "v": _server(0),
    "V": _server(0),
    "i": lambda exchange, seconds: "-",
    "o": lambda exchange, seconds: "-",
    "e": lambda exchange, seconds: "-",
}
