# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import fleet_difference


class FleetNode(Model):
    """What a node reports."""

    name: StrictStr
    """Name of the node."""
    number: StrictInt | None = None
    """The release that the phase is about."""
    phase: Literal['held', 'waiting', 'checked', 'baking', 'good', 'refused', 'bad', 'drifted']
    """Phase of the node in the release, see docs/fleet.md."""
    reason: StrictStr | None = None
    """Reason for the phase."""
    bundle: StrictStr | None = None
    """SHA-256 of the bundle of the node: its text without header, with the stored files that the fleet releases."""
    present: StrictBool | None = None
    """Whether the node is present; 15 seconds after its end it no longer is."""
    difference: fleet_difference.FleetDifference | None = None
