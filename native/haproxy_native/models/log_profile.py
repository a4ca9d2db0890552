# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import log_profile_steps


class LogProfile(Model):
    """How logs are made at each step, one log-profile section (HAProxy Configuration Manual, log-profile)."""

    log_tag: StrictStr | None = None
    """Tag of the messages."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(min_length=1)]
    """Name of the profile."""
    steps: log_profile_steps.LogProfileSteps | None = None
    """What is logged when."""
