"""Media types and encodings: what the client accepts, and what it sent."""

from collections.abc import Collection

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import HeaderName

ACCEPT_PATCH = HeaderName(b"Accept-Patch")


def check_accept(accept: str, available: Collection[str]) -> None:
    """406 unless a range of the header covers one of the types; weights do not matter."""
    ranges = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    if not accept.strip() or any(_covers(range_, kind) for range_ in ranges for kind in available):
        return
    raise ApiError(406, f"unsupported media type requested, only [{' '.join(sorted(available))}] are available")


def _covers(wanted: str, kind: str) -> bool:
    return wanted in (kind, "*/*", "*") or (wanted.endswith("/*") and kind.startswith(wanted[:-1]))


def check_content_type(sent: str, wanted: Collection[str], *, patch: bool = False) -> None:
    """415 unless the body is of a type the operation takes; the message names the header to send, and of a PATCH a header all types."""
    if sent.partition(";")[0].strip().lower() in wanted:
        return
    shown = sent.partition(";")[0] if any(kind.startswith("multipart/") for kind in wanted) else sent
    remedy = " or ".join(f"Content-Type: {kind}" for kind in sorted(wanted))
    headers = [(ACCEPT_PATCH, ", ".join(sorted(wanted)).encode())] if patch else []
    raise ApiError(415, f'header Content-Type has unexpected value "{shown}"; send {remedy}', headers=headers)


def check_content_encoding(sent: str) -> None:
    """415 for a compressed body: nothing here unpacks it."""
    if sent.strip().lower() not in ("", "identity"):
        raise ApiError(415, f'header Content-Encoding has unexpected value "{sent}"; send the body as it is, without this header')


def preferred(accept: str, available: Collection[str]) -> str:
    """The first of the header's ranges that is one of the types, else the first type."""
    ranges = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return next((range_ for range_ in ranges if range_ in available), next(iter(available)))
