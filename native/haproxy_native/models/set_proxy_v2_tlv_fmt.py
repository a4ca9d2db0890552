# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SetProxyV2TlvFmt(Model):
    """A record that is added to the PROXY protocol header."""

    id: StrictStr
    """Number of the record's type."""
    value: StrictStr
    """Log-format string of what it holds."""
