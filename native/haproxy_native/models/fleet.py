# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import fleet_node, fleet_release, fleet_store


class Fleet(Model):
    """A group and its nodes, as this node sees them."""

    group: StrictStr
    """Name of the group."""
    node: StrictStr
    """Name of this node."""
    release: fleet_release.FleetRelease | None = None
    nodes: list[fleet_node.FleetNode]
    """The nodes that have reported, by name; only this node if the store does not answer."""
    store: fleet_store.FleetStore
