# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import log_profile_steps


class LogProfile(Model):
    log_tag: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(min_length=1)]
    steps: log_profile_steps.LogProfileSteps | None = None
