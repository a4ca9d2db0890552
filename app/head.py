"""What a request's head must be beyond what the parser checks, so that nobody on the way can read it as another request."""

import re
from collections.abc import Sequence

from app.endpoint import Endpoint

# Far above what any client sends; each field and each letter of a URL costs time in the one thread that serves all.
MOST_FIELDS, LONGEST_URL = 1000, 1 << 16
_HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
Headers = Sequence[tuple[bytes, bytes]]


class Refused(Exception):
    """Why a request is not served; the connection ends with this answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def check(endpoint: Endpoint, version: str, method: bytes, url: bytes, headers: Headers, size: int) -> None:
    """Raises Refused. `size` is that of the fields, in bytes."""
    if len(url) > LONGEST_URL:
        raise Refused(414, f"request target exceeds the maximum allowed size of {LONGEST_URL} bytes")
    if endpoint.max_header_size and size + len(url) > endpoint.max_header_size:
        raise too_large(endpoint)
    if method == b"CONNECT":
        raise Refused(400, "this is no proxy: CONNECT is not served")
    hosts = [value for name, value in headers if name == b"host"]
    if not hosts and version != "1.0":
        raise Refused(400, "the Host header is missing")
    if len(hosts) > 1:
        raise Refused(400, "there is more than one Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise Refused(400, "the Host header is malformed")
    codings = [value for name, value in headers if name == b"transfer-encoding"]
    if codings and (version == "1.0" or len(codings) > 1 or codings[0].strip().lower() != b"chunked"):
        raise Refused(400, "Transfer-Encoding must be chunked, once, in HTTP/1.1")


def check_count(headers: Headers) -> None:
    """Raises Refused when there is no room for one more."""
    if len(headers) >= MOST_FIELDS:
        raise Refused(431, f"request header exceeds the maximum allowed number of {MOST_FIELDS} fields")


def too_large(endpoint: Endpoint) -> Refused:
    return Refused(431, f"request header exceeds the maximum allowed size of {endpoint.max_header_size} bytes")


class HalfHeads:
    """How many bytes of heads that are not complete all connections may hold together."""

    def __init__(self, most: int = 32 << 20) -> None:
        self.most, self.held = most, 0

    def hold(self, size: int) -> None:
        """Raises Refused when it is too much. What was held is given back with a negative size."""
        self.held += size
        if size > 0 and self.held > self.most:
            raise Refused(503, "too many requests are arriving slowly; send the request's head at once")
