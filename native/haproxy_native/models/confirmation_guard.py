# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictFloat, StrictInt


class ConfirmationGuard(Model):
    """What rolls the change back before its deadline."""

    errors: StrictFloat | None = None
    """Percent of the requests since the change that may be answered with 5xx."""
    ready: StrictBool | None = None
    """Whether no backend may have fewer ready servers than before."""
    min_requests: StrictInt | None = None
    """With fewer requests since the change the guard does not compare errors."""
