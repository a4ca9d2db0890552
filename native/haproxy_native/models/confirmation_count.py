# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class ConfirmationCount(Model):
    """Requests."""

    requests: StrictInt
    """All of them; sessions where the mode is tcp."""
    failures: StrictInt
    """Those answered with 5xx, or without a connection or response of a server."""
