# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr

from . import confirmation_count


class ConfirmationVerdict(Model):
    """What the guard says now, or said last."""

    result: Literal['good', 'bad', 'inconclusive']
    """A bad change is rolled back at once; any other waits for its confirmation."""
    reasons: list[StrictStr]
    """What violates the guard, or what it lacks for a verdict, with the numbers."""
    sections: list[StrictStr] | None = None
    """Frontends, backends and listens that the change affects."""
    frontends: confirmation_count.ConfirmationCount | None = None
    backends: confirmation_count.ConfirmationCount | None = None
