# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import confirmation_guard


class FleetProposal(Model):
    """How to release the configuration of this node."""

    message: Annotated[StrictStr | None, Field(max_length=200)] = None
    """Message for the history."""
    stages: list[StrictStr] | None = None
    """How many nodes have the release after each stage, as numbers or percentages."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    bake: StrictStr | None = None
    """How long each node is watched."""
    deadline: StrictStr | None = None
    """How much longer a stage may take."""
    force: StrictBool | None = None
    """Overwrite edits by hand."""
    dry_run: StrictBool | None = None
    """Have all nodes check the release, and change none."""
    release: Annotated[StrictInt | None, Field(ge=1)] = None
    """Number of a former release to release again, instead of the configuration of this node."""
