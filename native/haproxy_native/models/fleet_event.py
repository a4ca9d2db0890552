# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class FleetEvent(Model):
    """Something that has happened to a release of the fleet or to this node, as this node sees it, of type fleet."""

    change: Literal['started', 'gate_passed', 'paused', 'resumed', 'done', 'checked', 'rolled_back', 'held', 'joined']
    """What happened, see docs/fleet.md. Held and joined are about this node, all others about the release."""
    node: StrictStr
    """Name of this node."""
    number: StrictInt | None = None
    """Number of the release that the node follows; after rolled_back, of the one that has the former text."""
    id: StrictStr | None = None
    """Id of that release."""
    author: StrictStr | None = None
    """Author of the release."""
    message: StrictStr | None = None
    """Message of the author."""
    state: Literal['rolling', 'paused', 'done'] | None = None
    """Done if all stages have ended."""
    gate: StrictInt | None = None
    """Number of stages that may apply the release; 0 while all nodes check it."""
    reverts: StrictInt | None = None
    """Number of the release that was rolled back."""
    reason: StrictStr | None = None
    """Why it was rolled back, or why the node holds."""
