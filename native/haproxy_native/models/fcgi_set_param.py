# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FcgiSetParam(Model):
    """A parameter, one set-param line."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    format: StrictStr | None = None
    """Log-format string of the value."""
    name: StrictStr | None = None
    """Name of the parameter."""
