# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import routing_case


class RoutingRunOptions(Model):
    """Which tests are run, and of what."""

    tests: list[StrictStr] | None = None
    """Names of tests; all without it."""
    cases: Annotated[list[routing_case.RoutingCase] | None, Field(max_length=20000)] = (
        None
    )
    """Cases in the place of those that are kept."""
    config: Annotated[StrictStr | None, Field(max_length=50000000)] = None
    """A configuration in the place of the present one."""
