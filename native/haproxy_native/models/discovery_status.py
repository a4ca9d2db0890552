# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class DiscoveryStatus(Model):
    """How it went the last time; absent before the first look, and ignored when it is sent."""

    last_error: StrictStr | None = None
    """What last went wrong."""
    last_error_at: AwareDatetime | None = None
    """When that was."""
    last_success: AwareDatetime | None = None
    """When the source last answered."""
    next_try: AwareDatetime | None = None
    """When it is asked next at the latest."""
    reload_id: StrictStr | None = None
    """The last reload that a change of its services needed."""
    servers: StrictInt | None = None
    """Instances that it reported."""
    services: StrictInt | None = None
    """Services that it reported."""
    state: Literal['working', 'failing'] | None = None
    """Whether the last look did all it should."""
