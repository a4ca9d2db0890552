"""The feature `page`: serve the files of the page at /ui/ without credentials. The page calls the API like any other client."""

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from dataplaneapi.api.errors import error_response
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.feature import Feature
from dataplaneapi.api.operations import ALLOW
from dataplaneapi.api.responses import CACHE_CONTROL, JSON, LOCATION, Header, HeaderName, Response, empty
from dataplaneapi.api.services import Services

# What the page asks to know which of its views this server has.
VIEWS = "views.json"
PAGE, DIRECTORY = "/ui/", Path(__file__).resolve().parent / "ui"
TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
# The page loads files and data from this server only, and has no inline scripts. No other page may frame it.
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
# A browser revalidates every file at each visit, so an upgrade is effective at once.
_CACHING: list[Header] = [(CACHE_CONTROL, b"no-cache"), (HeaderName(b"Vary"), b"Accept-Encoding")]
_ENCODING = (HeaderName(b"Content-Encoding"), b"gzip")


@dataclass(frozen=True)
class PageFile:
    """One file of the page, plain and compressed."""

    media_type: bytes
    plain: bytes
    compressed: bytes

    @classmethod
    def of(cls, media_type: bytes, plain: bytes) -> Self:
        return cls(media_type, plain, gzip.compress(plain, 9, mtime=0))

    def response(self, *, compressed: bool) -> Response:
        body = self.compressed if compressed else self.plain
        return Response(200, body, self.media_type, [*HEADERS, *_CACHING, *([_ENCODING] if compressed else [])]).tagged()


def page(exchange: Exchange, *, is_on: bool, views: PageFile) -> Response | None:
    """Return the response for a path of the page; None for any other path. `views` is the file that lists the views of this server."""
    path = exchange.path
    if path == "/" and is_on and "text/html" in exchange.values_of(b"accept"):
        # Redirect a browser from `/` to the page. Other clients get the same response as without the page.
        return empty(307, [*HEADERS, (LOCATION, b"ui/")])
    if path == "/ui":
        return empty(308, [*HEADERS, (LOCATION, b"ui/")]) if is_on else _missing(path)
    if not path.startswith(PAGE):
        return None
    name = path.removeprefix(PAGE) or "index.html"
    file = None if not is_on else views if name == VIEWS else _read_file(name)
    if file is None:
        return _missing(path)
    if exchange.method not in ("GET", "HEAD"):
        return error_response(405, f"method {exchange.method} is not allowed for path {path}", [*HEADERS, (ALLOW, b"GET, HEAD")])
    encodings = exchange.values_of(b"accept-encoding").replace(" ", "").lower().split(",")
    response = file.response(compressed="gzip" in encodings)
    return response.unmodified() if response.is_known(exchange.values_of(b"if-none-match")) else response


def _missing(path: str) -> Response:
    """Return a 404 response. For a 401, a browser would open its own dialog for credentials."""
    return error_response(404, f"path {path} was not found", HEADERS)


@lru_cache(maxsize=256)
def _read_file(name: str) -> PageFile | None:
    """Return a file by its name relative to DIRECTORY; None if it does not exist. Blocks at the first call for a name."""
    if name not in _file_names():
        return None
    plain = (DIRECTORY / name).read_bytes()
    return PageFile.of(TYPES[Path(name).suffix], plain)


@lru_cache(maxsize=1)
def _file_names() -> frozenset[str]:
    """Return the names of the page's files, relative to DIRECTORY. Blocks at the first call."""
    return frozenset(file.relative_to(DIRECTORY).as_posix() for file in DIRECTORY.rglob("*") if file.suffix in TYPES)


class PageFeature(Feature):
    """The feature `page`, which serves the files of the page. The setting `disable_ui` turns it off."""

    def __init__(self, services: Services) -> None:
        views = PageFile.of(JSON, json.dumps({"fleet": bool(services.settings.fleet)}).encode())
        self.public = (lambda exchange: page(exchange, is_on=not services.settings.disable_ui, views=views),)
