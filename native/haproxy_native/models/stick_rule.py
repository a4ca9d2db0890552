# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class StickRule(Model):
    """Keeps a client on a server, one stick line (HAProxy Configuration Manual, section 4.2)."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    pattern: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Sample expression that gives the key, one word."""
    table: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Proxy whose stick table is used; else the one of the proxy itself."""
    type: Literal['match', 'on', 'store-request', 'store-response']
    """What the rule does: match uses the entry, store-request and store-response make it, on does both for requests."""
