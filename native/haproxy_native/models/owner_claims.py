# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import owned_object


class OwnerClaims(Model):
    """What one owner has declared."""

    owner: StrictStr
    """Name of the owner."""
    objects: list[owned_object.OwnedObject]
    """Objects, with the members that it owns."""
