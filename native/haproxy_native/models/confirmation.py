# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictFloat, StrictInt, StrictStr

from . import confirmation_guard, confirmation_verdict


class Confirmation(Model):
    """Changes that are taken back unless they are confirmed in time."""

    id: StrictStr
    """Number of the confirmation."""
    status: Literal['open', 'pending', 'confirmed', 'returned', 'failed', 'void']
    """How far it is; open: the change is being made; returned: it was rolled back; failed: a part was not rolled back; void: nothing was changed."""
    author: StrictStr | None = None
    """Who has made the first change."""
    created: AwareDatetime
    """When it was asked for."""
    timeout: StrictFloat
    """Seconds from the outcome of the change on."""
    expires: AwareDatetime | None = None
    """When the changes are taken back."""
    seconds_left: StrictInt | None = None
    """Until then."""
    ended: AwareDatetime | None = None
    """When it was over."""
    error: StrictStr | None = None
    """What could not be taken back and what to do, or why it has not gone back yet."""
    standing: list[StrictStr] | None = None
    """Ids of the changes in the history that could not be taken back."""
    guard: confirmation_guard.ConfirmationGuard | None = None
    verdict: confirmation_verdict.ConfirmationVerdict | None = None
    entries: list[StrictStr] | None = None
    """Ids of the changes in the history, the newest first."""
