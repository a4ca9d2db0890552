# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class ReturnHeader(Model):
    """One header field."""

    fmt: StrictStr
    """Log-format string that gives its value."""
    name: StrictStr
    """Name of the header field."""
