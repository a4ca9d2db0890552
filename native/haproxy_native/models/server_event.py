# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ServerEvent(Model):
    """A server in the running process, of type server."""

    change: Literal['added', 'changed', 'deleted']
    """Whether it is new."""
    operational_state: Literal['up', 'down', 'stopping', 'unknown']
    """Whether it takes requests."""
    admin_state: Literal['ready', 'drain', 'maint']
    """What was asked for."""
    weight: StrictInt
    """Its weight now."""
    address: StrictStr
    """Its address."""
    port: StrictInt
    """Its port."""
    check: StrictStr | None = None
    """Result of the last health check, such as L4CON, where operational_state has changed (HAProxy Management Guide, 9.1)."""
    former: dict[str, Any] | None = None
    """What members that have changed were before, by their names."""
