# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictFloat, StrictInt, StrictStr

from . import confirmation_guard


class FleetRelease(Model):
    """A release; without state if it is a former one."""

    number: StrictInt
    """Its number, which only rises."""
    id: StrictStr
    """Random, so that no two releases are taken for the same."""
    author: StrictStr
    """Who has released it."""
    message: StrictStr | None = None
    """Why."""
    made: AwareDatetime
    """When."""
    bundle: StrictStr
    """SHA-256 of its bundle."""
    files: list[StrictStr] | None = None
    """The kinds of stored files in its bundle, by the names of their collections."""
    reverts: StrictInt | None = None
    """The release that it takes back."""
    state: Literal['rolling', 'paused', 'done'] | None = None
    """Whether stages are still to come."""
    gate: StrictInt | None = None
    """The stage that is open; 0 while all nodes check the text."""
    stages: list[list[StrictStr]] | None = None
    """The nodes of each stage."""
    settled: StrictInt | None = None
    """The release that all others have."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    bake: StrictFloat | None = None
    """Seconds that a node is watched."""
    deadline: StrictFloat | None = None
    """Seconds that a stage may take beyond that."""
    force: StrictBool | None = None
    """Whether nodes that were edited by hand are overwritten."""
    dry_run: StrictBool | None = None
    """Whether it ends when all nodes have checked the text."""
    reason: StrictStr | None = None
    """Why the release before it was rolled back."""
    left_out: list[StrictStr] | None = None
    """Nodes that are absent or hold, and are no part of its stages."""
