# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class ConfirmationTimeout(Model):
    """A new time."""

    timeout: StrictStr
    """From now on, such as 5m, from 2 s to 24 hours."""
