"""Parse a request that a client wants to have explained, and choose the listener that would accept it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from haproxy_native.errors import BadRequest
from haproxy_native.models import model
from haproxy_native.shadow.process import ClientRequest
from haproxy_native.shadow.rewrite import FrontendListener

HTTP_PORT, HTTPS_PORT = 80, 443
HTTP, HTTP_2 = "http", "h2"
# The addresses in bind lines that stand for all.
ANY = ("", "*", "0.0.0.0", "::")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE = re.compile(r"[\x21-\x7e]+")
_VALUE = re.compile(r"[^\0\r\n]*")


@dataclass(frozen=True)
class Question:
    """A request to explain, and the response that a server would give to it."""

    # An absolute URL, or a path.
    url: str = "/"
    method: str = "GET"
    # The header Host; empty for the host in `url`.
    host: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: str = ""
    # The address of the client.
    source: str = "192.0.2.1"
    # The server name that the client sends in the TLS handshake.
    sni: str = ""
    # Whether the client uses TLS. None if the scheme of the URL and `sni` decide.
    tls: bool | None = None
    # The protocols that the client offers in the TLS handshake, separated by commas.
    alpn: str = ""
    # The section of the listener, and the name or address of its bind line; empty if the URL decides.
    frontend: str = ""
    bind: str = ""
    # The status and the headers of the server's response.
    status: int = 200
    reply: Sequence[tuple[str, str]] = field(default=())
    # The TLS version that the client offers, such as 1.2; empty for all.
    tls_version: str = ""

    @property
    def parts(self) -> SplitResult:
        """Return the parts of the URL. Raises BadRequest."""
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError as error:
            raise BadRequest(f"url in body is not a URL: {error}") from None
        if parts.scheme not in ("", "http", "https"):
            raise BadRequest(f"url in body begins with {parts.scheme}:; expected http:, https: or /")
        return parts


def client_request(question: Question, listeners: Sequence[FrontendListener]) -> ClientRequest:
    """Return the request to send to a shadow. Raises BadRequest."""
    listener = _choose_listener(question, listeners)
    host, head, reply = _messages(question)
    name = host.rsplit(":", 1)[0] if re.search(r":\d+$", host) else host
    return ClientRequest(
        listener,
        head,
        question.body.encode(),
        source=(question.source, 50_000),
        destination=_destination(question, listener),
        tls=(question.sni or name) if listener.is_tls or (_is_tls(question) and listener.mode == "tcp") else None,
        alpn=",".join(protocol for protocol in question.alpn.split(",") if protocol != HTTP_2 or listener.mode != HTTP),
        tls_version=question.tls_version,
        reply=reply,
    )


def offers_http_2(question: Question, listener: FrontendListener) -> bool:
    """Return whether the client offers HTTP/2 to a listener in mode http. The request to the shadow uses HTTP/1.1 nevertheless."""
    return listener.mode == HTTP and HTTP_2 in question.alpn.split(",")


def check(question: Question) -> None:
    """Raise BadRequest for a request that cannot be sent to any listener."""
    _messages(question)


def _messages(question: Question) -> tuple[str, bytes, bytes]:
    """Return the host, the head of the request, and the head of the response. Raises BadRequest."""
    parts = question.parts
    host = question.host or parts.netloc.rpartition("@")[2]
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    for what, value, pattern in (("method", question.method, _TOKEN), ("url", path, _LINE), ("host", host or "-", _LINE)):
        if not pattern.fullmatch(value):
            raise BadRequest(f"{what} in body is not valid in a request: {value[:100]!r}")
    headers = [*([("Host", host)] if host else []), *question.headers]
    if question.body:
        headers.append(("Content-Length", str(len(question.body.encode()))))
    head = _head(f"{question.method} {path} HTTP/1.1", headers)
    return host, head, _head(f"HTTP/1.1 {question.status} -", [*question.reply, ("Content-Length", "0")])


def _head(line: str, headers: Sequence[tuple[str, str]]) -> bytes:
    """Return the head of an HTTP/1.1 message. Raises BadRequest for an invalid header."""
    for name, value in headers:
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise BadRequest(f"headers in body: {name[:50]!r} has an invalid name or value")
    return "\r\n".join([line, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("utf-8", "surrogateescape")


def _choose_listener(question: Question, listeners: Sequence[FrontendListener]) -> FrontendListener:
    """Return the listener that the question names, or else the first listener that matches the address, port and TLS of the URL.

    If no listener matches, return the only listener, or the first listener of the frontend that the question names. Raises BadRequest.
    """
    candidates = [listener for listener in listeners if question.frontend in ("", listener.frontend)]
    if question.bind:
        candidates = [
            listener for listener in candidates if question.bind in (listener.name, listener.address, *listener.address.split(","))
        ]
    elif matching := _by_address(question, candidates):
        candidates = matching
    elif not question.frontend:
        candidates = candidates[: len(candidates) == 1]
    if candidates:
        return _with_tls(question, candidates)[0]
    known = ", ".join(sorted({f"{listener.frontend} ({listener.address})" for listener in listeners})[:10])
    raise BadRequest(f"no listener accepts this request; set frontend or bind to one of: {known or 'none, for there is no frontend'}")


def other_listeners(question: Question, listener: FrontendListener, listeners: Sequence[FrontendListener]) -> list[FrontendListener]:
    """Return the other listeners that may accept the request; none if the question names a frontend or bind."""
    if question.bind or question.frontend:
        return []
    return [other for other in _with_tls(question, _by_address(question, listeners)) if other is not listener]


def _by_address(question: Question, listeners: Sequence[FrontendListener]) -> list[FrontendListener]:
    """Return the listeners with the port of the URL.

    If listeners have exactly the address in the URL, return only these. Otherwise, if listeners accept any address, return only those.
    Otherwise return the listeners with other addresses, because there may be NAT.
    """
    port, ip_in_url = question.parts.port or (HTTPS_PORT if _is_tls(question) else HTTP_PORT), ip(question.parts.hostname or "")
    rows = [(listener, address) for listener in listeners for address, first, last in addresses(listener.address) if first <= port <= last]
    exact = [listener for listener, address in rows if ip_in_url and ip(address) == ip_in_url]
    wide = [listener for listener, address in rows if ip_in_url and address in ANY]
    return exact or wide or list(dict.fromkeys(listener for listener, _ in rows))


def _with_tls(question: Question, listeners: Sequence[FrontendListener]) -> Sequence[FrontendListener]:
    """Return the listeners that use TLS if and only if the client does; all listeners if there is no such listener."""
    return [listener for listener in listeners if listener.is_tls == _is_tls(question)] or listeners


def ip(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address; None for any other text."""
    with suppress(ValueError):
        return ip_address(text)
    return None


def _is_tls(question: Question) -> bool:
    """Return whether the client uses TLS. If `tls` is None, this is the case if there is a server name or the scheme is https."""
    return bool(question.sni) or question.parts.scheme == "https" if question.tls is None else question.tls


def addresses(text: str) -> list[tuple[str, int, int]]:
    """Return (address, first port, last port) of each part of a bind line's address. Skips parts without a port."""
    rows = []
    for part in text.split(","):
        match = re.fullmatch(r"(?:(?:ipv|(?:mp)?tcp)[46]?@)?(.*?):(\d+)(?:-(\d+))?", part)
        if match:
            rows.append((match[1].strip("[]"), int(match[2]), int(match[3] or match[2])))
    return rows


def _destination(question: Question, listener: FrontendListener) -> tuple[str, int]:
    """Return the address and port that the client connects to.

    If the listener accepts any address, return the address in the URL; if the URL has none, return an example address.
    """
    source, ip_in_url, url_port = question.source, ip(question.parts.hostname or ""), question.parts.port
    example = "2001:db8::2" if ":" in source else "192.0.2.2"
    default = str(ip_in_url) if ip_in_url and (ip_in_url.version == 6) == (":" in source) else example
    rows = addresses(question.bind if question.bind in listener.address.split(",") else listener.address)
    for address, first, last in [row for row in rows if ip_in_url and ip(row[0]) == ip_in_url] or rows:
        port = url_port if url_port is not None and first <= url_port <= last else first
        if url_port is None or port == url_port or len(rows) == 1:
            is_same_family = (":" in address) == (":" in source)
            return (address if address not in ANY and is_same_family else default), port
    return default, HTTPS_PORT if listener.is_tls else HTTP_PORT


def question_of(body: Mapping[str, Any]) -> Question:
    """Parse a question from a request body."""
    given: Any = model("explain_question").model_validate(body)
    tls, reply = given.tls, given.response
    return Question(
        given.url or given.path or "/",
        given.method or "GET",
        given.host or "",
        _pairs(given.headers),
        given.body or "",
        given.src or "192.0.2.1",
        given.sni or "",
        None if tls is None else True,
        ",".join((tls and tls.alpn) or ()),
        given.frontend or "",
        given.bind or "",
        (reply and reply.status) or 200,
        _pairs(reply.headers if reply else None),
        (tls and tls.version) or "",
    )


def _pairs(headers: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return headers as pairs of name and value. In `headers`, each member is a value or a list of values."""
    rows = (headers or {}).items()
    return [(str(name), str(value)) for name, values in rows for value in (values if isinstance(values, list) else [values])]
