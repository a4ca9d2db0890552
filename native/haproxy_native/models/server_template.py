# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .server_params import ServerParams


class ServerTemplate(ServerParams):
    """A server-template line (HAProxy Configuration Manual, section 4.2)."""

    fqdn: StrictStr
    """Host name, or name of the service, whose addresses the servers get."""
    id: StrictInt | None = None
    """Number of the first server; the others follow."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    num_or_range: StrictStr
    """How many servers are made, or their first and last number."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port of all the servers."""
    prefix: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Beginning of their names, before the number."""
