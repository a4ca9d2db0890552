# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr

from . import confirmation_traffic


class ConfirmationVerdict(Model):
    """What the guard says by now, or has said at last."""

    result: Literal['good', 'bad', 'inconclusive']
    """A change that is bad goes back at once."""
    reasons: list[StrictStr]
    """What is wrong, or is missing for a good change."""
    sections: list[StrictStr] | None = None
    """Frontends, backends and listens that the change touches."""
    before: confirmation_traffic.ConfirmationTraffic | None = None
    after: confirmation_traffic.ConfirmationTraffic | None = None
