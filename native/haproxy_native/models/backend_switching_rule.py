# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class BackendSwitchingRule(Model):
    """Chooses the backend of a request, one use_backend line (HAProxy Configuration Manual, section 4.2)."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the backend, or a log-format string that gives it."""
