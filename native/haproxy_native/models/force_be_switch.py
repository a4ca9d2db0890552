# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class ForceBeSwitch(Model):
    """Lets traffic reach a backend that is not yet published, one force-be-switch line (since HAProxy 3.4)."""

    cond: Literal['if', 'unless']
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr
    """ACL expression of the condition, as in the file."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
