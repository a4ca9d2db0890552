# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr


class FleetNode(Model):
    """What a node reports."""

    name: StrictStr
    """Its name."""
    number: StrictInt | None = None
    """The release that the phase is about."""
    phase: Literal['held', 'waiting', 'checked', 'baking', 'good', 'refused', 'bad', 'drifted']
    """Its phase in the release; docs/fleet.md explains them."""
    reason: StrictStr | None = None
    """Why."""
    bundle: StrictStr | None = None
    """SHA-256 of its bundle: of the text without header, with the stored files that the fleet releases."""
    present: StrictBool | None = None
    """Whether it was there in the last 15 seconds."""
