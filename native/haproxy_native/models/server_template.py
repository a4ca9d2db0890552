# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .server_params import ServerParams


class ServerTemplate(ServerParams):
    fqdn: StrictStr
    id: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    num_or_range: StrictStr
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    prefix: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
