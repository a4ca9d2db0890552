# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class StreamEvent(Model):
    """Something that has happened."""

    id: StrictStr
    """Greater than those of all events before, also over restarts."""
    time: AwareDatetime
    """When it was noticed."""
    type: Literal['server', 'stats', 'config', 'reload', 'worker', 'certificate', 'storage', 'operation', 'confirmation', 'fleet', 'snapshot', 'dropped']
    """What kind of event it is. Dropped is the last one of a client that reads too slowly; it has neither id nor time."""
    object: StrictStr
    """Name of the object that it is about, as in backend/shop/server/web1; configuration where it is about several."""
    data: dict[str, Any]
    """By its type a `server_event`, `stats_event`, `change_event`, `reload_event`, `worker_event`, `operation`, `confirmation`, `fleet_event` or `event_snapshot`."""
