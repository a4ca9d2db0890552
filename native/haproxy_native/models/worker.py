# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictInt, StrictStr


class Worker(Model):
    """One worker process of HAProxy."""

    pid: StrictInt
    """Process id."""
    current: StrictBool
    """Whether it is the one in service."""
    started: AwareDatetime
    """When it was started."""
    version: Any
    """Version of the configuration that it has loaded, or unknown."""
    connections: StrictInt
    """Open connections of clients, also those without a session."""
    sessions: dict[str, StrictInt]
    """Open sessions of each frontend that has any, by its name."""
    memory: StrictInt
    """Bytes of memory, shared ones in proportion. Null where they cannot be read."""
    note: StrictStr | None = None
    """What to configure, so that former workers are seen."""
