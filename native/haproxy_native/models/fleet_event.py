# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class FleetEvent(Model):
    """What has become of a release of the fleet, or of this node, as this node sees it; of type fleet."""

    change: Literal['started', 'gate_passed', 'paused', 'resumed', 'done', 'checked', 'rolled_back', 'held', 'joined']
    """Of a release: checked ends a dry run, and all others are named as in docs/fleet.md. Of this node: held and joined."""
    node: StrictStr
    """Name of this node."""
    number: StrictInt | None = None
    """Number of the release that the node follows; after rolled_back, of the one that has the former text."""
    id: StrictStr | None = None
    """Its id."""
    author: StrictStr | None = None
    """Who has released it."""
    message: StrictStr | None = None
    """Why."""
    state: Literal['rolling', 'paused', 'done'] | None = None
    """Whether stages are still to come."""
    gate: StrictInt | None = None
    """The stage that is open; 0 while all nodes check the text."""
    reverts: StrictInt | None = None
    """The release that was rolled back."""
    reason: StrictStr | None = None
    """Why it was rolled back, or why the node holds."""
