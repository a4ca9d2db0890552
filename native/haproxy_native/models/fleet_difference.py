# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import fleet_file_difference


class FleetDifference(Model):
    """How a node or a release differs from a release."""

    from_: Annotated[StrictInt, Field(alias='from')]
    """Number of the release that the difference starts from."""
    to: StrictInt | None = None
    """Number of the release that it leads to; absent for a node."""
    diff: StrictStr
    """Unified diff of haproxy.cfg; empty if the texts are equal."""
    truncated: StrictBool
    """Whether the diff was cut, after 512 KiB."""
    files: list[fleet_file_difference.FleetFileDifference]
    """Stored files that differ, of the kinds that the fleet releases."""
