# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import confirmation_guard


class FleetPolicy(Model):
    """How the releases of a group proceed that do not have their own values."""

    stages: list[StrictStr] | None = None
    """How many nodes have the release after each stage, as numbers or percentages."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    bake: StrictStr | None = None
    """How long each node is watched."""
    deadline: StrictStr | None = None
    """How much longer a stage may take."""
