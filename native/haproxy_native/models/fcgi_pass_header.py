# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FcgiPassHeader(Model):
    """A header field, one pass-header line."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    name: StrictStr | None = None
    """Name of the header field."""
