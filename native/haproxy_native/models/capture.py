# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictInt


class Capture(Model):
    """Reserves a place for captured text, one declare capture line (HAProxy Configuration Manual, section 4.2)."""

    length: StrictInt
    """Bytes that are kept."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    type: Literal['request', 'response']
    """Whether it takes something of the request or of the response."""
