"""Check the head of a request more strictly than the HTTP parser does, so that no proxy can interpret the head as a different request."""

import re
from collections.abc import Sequence

from dataplaneapi.server.endpoint import Endpoint

# Far more than any client needs. Each field, and each byte of a URL, takes time in the event loop.
MOST_FIELDS, LONGEST_URL = 1000, 1 << 16
_HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
Headers = Sequence[tuple[bytes, bytes]]


class RequestRefused(Exception):
    """Raised to refuse a request. The client gets a response with this status and message, and then the connection is closed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def check(endpoint: Endpoint, version: str, method: bytes, url: bytes, headers: Headers, arrived: int) -> None:
    """Check the head of a request. Raises RequestRefused.

    `arrived`: an upper bound of the size of the head in bytes. The exact size is computed only if the bound exceeds `max_header_size`.
    """
    if len(url) > LONGEST_URL:
        raise RequestRefused(414, f"request target exceeds the maximum allowed size of {LONGEST_URL} bytes")
    if (largest := endpoint.max_header_size) and arrived > largest and len(url) + sum(len(a) + len(b) + 4 for a, b in headers) > largest:
        raise too_large(endpoint)
    if method == b"CONNECT":
        raise RequestRefused(400, "CONNECT is not supported: this server is not a proxy")
    host = coding = None
    for name, value in headers:
        if name == b"host":
            if host is not None:
                raise RequestRefused(400, "there is more than one Host header")
            host = value
        elif name == b"transfer-encoding":
            if coding is not None or value.strip().lower() != b"chunked" or version == "1.0":
                raise RequestRefused(400, "Transfer-Encoding must be chunked, once, in HTTP/1.1")
            coding = value
    if host is None and version != "1.0":
        raise RequestRefused(400, "the Host header is missing")
    if host and not _HOST.fullmatch(host):
        raise RequestRefused(400, "the Host header is malformed")


def too_many() -> RequestRefused:
    return RequestRefused(431, f"request header exceeds the maximum allowed number of {MOST_FIELDS} fields")


def too_large(endpoint: Endpoint) -> RequestRefused:
    return RequestRefused(431, f"request header exceeds the maximum allowed size of {endpoint.max_header_size} bytes")


class HalfHeads:
    """The total size of the incomplete request heads on all connections, and the limit of this total."""

    def __init__(self, most: int = 32 << 20) -> None:
        self.most, self.size = most, 0

    def add(self, size: int) -> None:
        """Add `size` to the total. A negative size reduces the total. Raises RequestRefused (503) if the total exceeds the limit."""
        self.size += size
        if size > 0 and self.size > self.most:
            raise RequestRefused(503, "too many requests are arriving slowly; send the request's head at once")
