# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import routing_test


class RoutingTests(RootModel[list[routing_test.RoutingTest]]):
    """Tests of routing."""

    root: list[routing_test.RoutingTest]
