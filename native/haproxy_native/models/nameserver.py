# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Nameserver(Model):
    """A name server, one nameserver line."""

    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Where the name server is reached."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
    """Name of the name server."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """UDP or TCP port of the name server."""
