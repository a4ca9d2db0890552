# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictInt, StrictStr


class FleetStore(Model):
    """The store of the group."""

    up: StrictBool
    """Whether it answers."""
    error: StrictStr | None = None
    """Why it does not."""
    since: AwareDatetime | None = None
    """Since when it answers, or does not."""
    version: StrictStr | None = None
    """Of its program."""
    bytes: StrictInt | None = None
    """That it takes on disk."""
