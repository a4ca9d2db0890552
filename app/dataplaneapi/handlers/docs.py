"""Serve the pages that need no credentials: the API reference, and the OpenAPI documents."""

from pathlib import Path

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.responses import HeaderName, Response
from dataplaneapi.handlers.information import openapi_document, swagger_document

STATIC = Path(__file__).resolve().parent.parent / "static"
TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".json": b"application/json",
    ".png": b"image/png",
}
# The pages load nothing from other sites, and no site may frame them. Swagger UI needs inline styles, and icons in `data:` URLs.
_POLICY = (
    HeaderName(b"Content-Security-Policy"),
    b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
)


def page(exchange: Exchange) -> Response | None:
    """Return the page at a public path, or None for any other path."""
    path = exchange.path
    if path == "/swagger.json":
        return Response(200, swagger_document(exchange.scheme))
    if path == "/v3/docs/openapi.json":
        return Response(200, openapi_document())
    if path in ("/v3/docs", "/v3/docs/"):
        return _file("index.html")
    return _file(path[len("/v3/docs/") :]) if path.startswith("/v3/docs/") else None


def _file(name: str) -> Response | None:
    file = next((path for path in STATIC.iterdir() if path.name == name and path.suffix in TYPES), None)
    return Response(200, file.read_bytes(), TYPES[file.suffix], [_POLICY]) if file else None
