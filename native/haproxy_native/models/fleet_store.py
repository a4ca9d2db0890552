# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictInt, StrictStr


class FleetStore(Model):
    """The store in which the nodes of the group agree."""

    up: StrictBool
    """Whether the store answers."""
    error: StrictStr | None = None
    """Why the store does not answer, or why this node takes no part."""
    since: AwareDatetime | None = None
    """When the store began to answer, or ceased to."""
    version: StrictStr | None = None
    """Version of the program of the store."""
    bytes: StrictInt | None = None
    """Size of the store on disk."""
