"""The files of the page at /ui/, which need no credentials: what the page shows it asks of the API, as any other client."""

import gzip
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dataplaneapi.api.errors import error_response
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.responses import CACHE_CONTROL, LOCATION, Header, HeaderName, Response, empty
from dataplaneapi.api.router import ALLOW

PAGE, DIRECTORY = "/ui/", Path(__file__).resolve().parent / "ui"
TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
# Nothing comes from elsewhere, nothing is written into the page, and no other page may frame it.
POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: list[Header] = [
    (HeaderName(b"Content-Security-Policy"), POLICY),
    (HeaderName(b"Referrer-Policy"), b"no-referrer"),
    (HeaderName(b"Cross-Origin-Opener-Policy"), b"same-origin"),
    (HeaderName(b"Cross-Origin-Resource-Policy"), b"same-origin"),
]
# An upgrade is seen at the next visit; until then a visit costs one answer without a body for each file.
_CACHING: list[Header] = [(CACHE_CONTROL, b"no-cache"), (HeaderName(b"Vary"), b"Accept-Encoding")]
_ENCODING = (HeaderName(b"Content-Encoding"), b"gzip")


@dataclass(frozen=True)
class File:
    """One file of the page, as it is and compressed."""

    media_type: bytes
    plain: bytes
    compressed: bytes

    def response(self, *, compressed: bool) -> Response:
        body = self.compressed if compressed else self.plain
        return Response(200, body, self.media_type, [*HEADERS, *_CACHING, *([_ENCODING] if compressed else [])]).tagged()


def page(exchange: Exchange, *, is_on: bool) -> Response | None:
    """What answers a path of the page; None for every other path."""
    path = exchange.path
    if path == "/ui":
        return empty(308, [*HEADERS, (LOCATION, b"ui/")]) if is_on else _missing(path)
    if not path.startswith(PAGE):
        return None
    file = _file(path.removeprefix(PAGE) or "index.html") if is_on else None
    if file is None:
        return _missing(path)
    if exchange.method not in ("GET", "HEAD"):
        return error_response(405, f"method {exchange.method} is not allowed for path {path}", [*HEADERS, (ALLOW, b"GET, HEAD")])
    response = file.response(compressed=_takes_gzip(exchange))
    return response.unmodified() if response.is_known(exchange.values_of(b"if-none-match")) else response


def _missing(path: str) -> Response:
    """Needs no credentials either: a browser would ask for some by a dialog of its own."""
    return error_response(404, f"path {path} was not found", HEADERS)


@lru_cache(maxsize=256)
def _file(name: str) -> File | None:
    """Returns a file by its name below the directory, read once, or None."""
    if name not in _names():
        return None
    plain = (DIRECTORY / name).read_bytes()
    return File(TYPES[Path(name).suffix], plain, gzip.compress(plain, 9, mtime=0))


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(file.relative_to(DIRECTORY).as_posix() for file in DIRECTORY.rglob("*") if file.suffix in TYPES)


def _takes_gzip(exchange: Exchange) -> bool:
    accepted = exchange.values_of(b"accept-encoding").replace(" ", "").lower().split(",")
    return "gzip" in accepted
