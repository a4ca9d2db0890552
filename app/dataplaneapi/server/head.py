"""Checks a request's head beyond what the parser does, so that no proxy on the way can read it as another request."""

import re
from collections.abc import Sequence

from dataplaneapi.server.endpoint import Endpoint

# Far above what any client sends; each field and each letter of a URL costs time in the one thread that serves all.
MOST_FIELDS, LONGEST_URL = 1000, 1 << 16
_HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
Headers = Sequence[tuple[bytes, bytes]]


class RequestRefused(Exception):
    """Why a request is not served; the connection ends with this answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def check(endpoint: Endpoint, version: str, method: bytes, url: bytes, headers: Headers, arrived: int) -> None:
    """Raises RequestRefused. `arrived`: so many bytes at most has the head, which need only be counted when that is too much."""
    if len(url) > LONGEST_URL:
        raise RequestRefused(414, f"request target exceeds the maximum allowed size of {LONGEST_URL} bytes")
    if (largest := endpoint.max_header_size) and arrived > largest and len(url) + sum(len(a) + len(b) + 4 for a, b in headers) > largest:
        raise too_large(endpoint)
    if method == b"CONNECT":
        raise RequestRefused(400, "this is no proxy: CONNECT is not served")
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
    """How many bytes of heads that are not complete all connections may hold together."""

    def __init__(self, most: int = 32 << 20) -> None:
        self.most, self.held = most, 0

    def hold(self, size: int) -> None:
        """Raises RequestRefused when it is too much. What was held is given back with a negative size."""
        self.held += size
        if size > 0 and self.held > self.most:
            raise RequestRefused(503, "too many requests are arriving slowly; send the request's head at once")
