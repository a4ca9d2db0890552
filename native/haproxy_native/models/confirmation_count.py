# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class ConfirmationCount(Model):
    """Requests that these frontends or backends have had since the change."""

    requests: StrictInt
    """All requests."""
    errors: StrictInt
    """Those that were answered with 5xx."""
