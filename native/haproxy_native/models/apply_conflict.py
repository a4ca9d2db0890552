# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import ownership_conflict


class ApplyConflict(Model):
    """Why nothing was applied."""

    code: StrictInt
    """Status of the answer."""
    message: StrictStr
    """The first conflict."""
    conflicts: list[ownership_conflict.OwnershipConflict]
    """All of them."""
