# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import routing_result


class PlannedTests(Model):
    """What tests of routing say of a plan, where they are required."""

    failed_tests: list[routing_result.RoutingResult]
    """Those that it would break."""
    failed_before: list[StrictStr]
    """Names of those that fail without it as well."""
    untested: StrictStr | None = None
    """Why they cannot be run, so that it would be refused."""
