# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import default_bind as default_bind_1
from . import default_server as default_server_1


class PeerSectionBase(Model):
    """Nodes that share stick tables, one peers section (HAProxy Configuration Manual 2.6, section 3.5)."""

    default_bind: default_bind_1.DefaultBind | None = None
    """Options of all listeners of the section."""
    default_server: default_server_1.DefaultServer | None = None
    """Options of all peers of the section."""
    disabled: StrictBool | None = None
    """Whether the section is switched off."""
    enabled: StrictBool | None = None
    """Whether the section is switched on."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the section."""
    shards: StrictInt | None = None
    """Peers over which updates are spread."""
