# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ExplainedListener(Model):
    """The listener that takes the request."""

    frontend: StrictStr
    """Its section."""
    bind: StrictStr
    """Its address."""
    file: StrictStr | None = None
    """Its file, absent for the main one."""
    line: StrictInt
    """Its line."""
