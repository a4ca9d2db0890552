# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import confirmation_guard


class FleetProposal(Model):
    """How a text is released."""

    message: Annotated[StrictStr | None, Field(max_length=200)] = None
    """Why."""
    stages: list[StrictStr] | None = None
    """How many nodes have it after each stage, as numbers and percentages; one node, a quarter, all by default."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    bake: StrictStr | None = None
    """How long each node is watched, 60s by default."""
    deadline: StrictStr | None = None
    """How long a stage may take beyond that, 10m by default."""
    force: StrictBool | None = None
    """Overwrite nodes that were edited by hand."""
    dry_run: StrictBool | None = None
    """Have all nodes check the text, and change none."""
    release: Annotated[StrictInt | None, Field(ge=1)] = None
    """The former release whose text is released again, in place of that of this node."""
