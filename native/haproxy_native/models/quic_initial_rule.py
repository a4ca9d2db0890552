# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class QuicInitialRule(Model):
    """What is done with the first packet of a QUIC connection, one quic-initial line (HAProxy Configuration Manual, section 4.2)."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    type: Literal['reject', 'accept', 'send-retry', 'dgram-drop']
    """What is done."""
