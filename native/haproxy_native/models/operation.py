# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class Operation(Model):
    """Something that takes long, begun by one call and watched by others."""

    created: AwareDatetime
    """When it was asked for."""
    due: AwareDatetime | None = None
    """When it begins; absent where that is at once."""
    ended: AwareDatetime | None = None
    """When it ended; absent while it is running."""
    error: StrictStr | None = None
    """Why it failed."""
    id: StrictStr
    """Its id."""
    kind: Literal['reload', 'drain', 'end_worker']
    """What is done."""
    progress: dict[str, Any]
    """How far it is, by its kind: of a reload its `reload_id`, of a drain the `sessions` of each server."""
    status: Literal['running', 'succeeded', 'failed', 'cancelled']
    """Its state."""
