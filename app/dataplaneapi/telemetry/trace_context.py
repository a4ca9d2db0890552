"""Parse the header `traceparent` of W3C Trace Context, version 00. As the standard requires, a malformed header counts as absent."""

import re

_HEADER = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def fields(header: bytes | None) -> dict[str, str]:
    """Return `trace_id` and `parent_id`, or an empty dict if the header is missing or malformed."""
    match = _HEADER.fullmatch(header) if header else None
    if match is None or match[1] == b"ff" or (match[1] == b"00" and match[4]) or not int(match[2], 16) or not int(match[3], 16):
        return {}
    return {"trace_id": match[2].decode(), "parent_id": match[3].decode()}
