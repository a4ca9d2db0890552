# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictFloat, StrictInt

from . import routing_coverage, routing_result


class RoutingRun(Model):
    """What tests have found."""

    passed: StrictInt
    """So many cases have passed."""
    failed: StrictInt
    """So many have not."""
    seconds: StrictFloat
    """How long it took."""
    cases: list[routing_result.RoutingResult]
    """The cases, in their order."""
    coverage: routing_coverage.RoutingCoverage
