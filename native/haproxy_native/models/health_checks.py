# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import health_check


class HealthChecks(RootModel[list[health_check.HealthCheck]]):
    """All such sections."""

    root: list[health_check.HealthCheck]
