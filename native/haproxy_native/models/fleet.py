# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import fleet_node, fleet_release, fleet_store


class Fleet(Model):
    """What the nodes of a group agree on, as this one sees it."""

    group: StrictStr
    """Name of the group."""
    node: StrictStr
    """Name of this node."""
    release: fleet_release.FleetRelease | None = None
    nodes: list[fleet_node.FleetNode]
    """All nodes that have ever reported, by name; this one alone if the store does not answer."""
    store: fleet_store.FleetStore
