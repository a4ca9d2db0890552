# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictFloat, StrictInt


class ConfirmationGuard(Model):
    """What watches the change."""

    errors: StrictFloat | None = None
    """By how many points the share of failed requests may rise."""
    ready: StrictBool | None = None
    """Whether no section may have fewer ready servers than before."""
    min_requests: StrictInt | None = None
    """Fewer requests since the change say nothing."""
    for_: Annotated[StrictFloat | None, Field(alias='for')] = None
    """Seconds until a change is good."""
    auto_confirm: StrictBool | None = None
    """Whether a good change is confirmed."""
