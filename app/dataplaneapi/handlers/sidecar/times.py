"""Times as `/v3/sidecar` tells them."""

from datetime import UTC, datetime


def rfc3339(seconds: float) -> str:
    """A Unix time in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
