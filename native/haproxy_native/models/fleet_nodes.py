# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import fleet_node


class FleetNodes(RootModel[list[fleet_node.FleetNode]]):
    """The nodes, by name."""

    root: list[fleet_node.FleetNode]
