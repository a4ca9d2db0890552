# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class ExplainedHeader(Model):
    """A header."""

    name: StrictStr
    """Its name."""
    value: StrictStr
    """Its value."""
