# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class ServerSwitchingRule(Model):
    """Chooses the server of a request, one use-server line (HAProxy Configuration Manual, section 4.2)."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    target_server: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the server, or a log-format string that gives it."""
