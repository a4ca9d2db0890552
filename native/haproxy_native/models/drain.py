# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import drain_until


class Drain(Model):
    """Servers to take out of service, and what is done when they are idle."""

    targets: Annotated[list[StrictStr], Field(min_length=1)]
    """Servers of the process: backend/NAME/server/NAME, NAME/NAME, with * in a name, or *@ADDRESS."""
    until: drain_until.DrainUntil | None = None
    timeout: StrictStr | None = None
    """How long to wait, such as 90s or 5m."""
    then: Literal['nothing', 'maint', 'delete', 'cut'] | None = None
    """What is done when the servers are idle."""
    at_timeout: Literal['stay', 'restore', 'cut'] | None = None
    """What is done when they are not idle in time."""
    keep_ready: Annotated[StrictInt | None, Field(ge=0)] = None
    """Servers of each backend that stay up and ready at least."""
