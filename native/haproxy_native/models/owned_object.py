# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class OwnedObject(Model):
    """What is owned of one object."""

    object: StrictStr
    """Name of the object."""
    members: list[StrictStr]
    """Names of members."""
