# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class PeerEntry(Model):
    """A peer, one peer line."""

    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Where the peer is reached."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
    """Name of the peer."""
    port: Annotated[StrictInt, Field(ge=1, le=65535)]
    """TCP port of the peer."""
    shard: StrictInt | None = None
    """Number of the shard that it gets."""
