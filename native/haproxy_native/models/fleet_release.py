# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictFloat, StrictInt, StrictStr

from . import confirmation_guard


class FleetRelease(Model):
    """A release. A former one has no state."""

    number: StrictInt
    """Number of the release; numbers only rise."""
    id: StrictStr
    """Random, so that two releases never have the same number and id."""
    author: StrictStr
    """Author of the release."""
    message: StrictStr | None = None
    """Message of the author."""
    made: AwareDatetime
    """When it was released."""
    bundle: StrictStr
    """SHA-256 of the text and the stored files."""
    files: list[Literal['maps', 'acls', 'general', 'ssl_certificates', 'ssl_crt_lists']] | None = (
        None
    )
    """Kinds of stored files that the release has, as in the setting fleet.files."""
    reverts: StrictInt | None = None
    """Number of the release that it reverts."""
    state: Literal['rolling', 'paused', 'done'] | None = None
    """Done if all stages have ended."""
    gate: StrictInt | None = None
    """Number of stages that may apply the release; 0 while all nodes check it."""
    stages: list[list[StrictStr]] | None = None
    """The nodes of each stage."""
    settled: StrictInt | None = None
    """Number of the release that nodes have before their stage."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    bake: StrictFloat | None = None
    """How long each node is watched after it has applied the release, in seconds."""
    deadline: StrictFloat | None = None
    """How much longer a stage may take, in seconds."""
    force: StrictBool | None = None
    """Whether nodes that were edited by hand are overwritten."""
    dry_run: StrictBool | None = None
    """Whether the release ends when all nodes have checked it."""
    reason: StrictStr | None = None
    """Why the release before it was rolled back."""
    left_out: list[StrictStr] | None = None
    """Nodes that are in no stage because they are absent or hold."""
