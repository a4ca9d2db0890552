# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .server_params import ServerParams


class Server(ServerParams):
    """A server line (HAProxy Configuration Manual, section 5.2)."""

    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Where it is reached; an IP address, a host name or the path of a socket."""
    id: StrictInt | None = None
    """Number by which the server is known, above 0."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """What the server is called."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """TCP or UDP port; that of the client without one."""
