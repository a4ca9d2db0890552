# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictStr


class AppliedChange(Model):
    """One member of one object."""

    object: StrictStr
    """Name of the object."""
    member: StrictStr
    """Name of the member."""
    old: Any | None = None
    """What it was."""
    new: Any | None = None
    """What it is."""
