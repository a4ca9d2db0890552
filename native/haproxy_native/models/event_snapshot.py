# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr


class EventSnapshot(Model):
    """The present state of what was asked for, of type snapshot."""

    lost: StrictBool
    """Whether events that were asked for are not kept any more."""
    version: StrictInt | None = None
    """That of the configuration."""
    worker: StrictInt | None = None
    """Process id of the worker in service."""
    reload_pending: StrictStr | None = None
    """The reload that is scheduled."""
    servers: list[dict[str, Any]] | None = None
    """The servers in the running process."""
    stats: list[dict[str, Any]] | None = None
    """All counters."""
    lines_to_add: dict[str, StrictStr]
    """By its section, what to add to the configuration, so that HAProxy itself tells of states; empty where it does."""
