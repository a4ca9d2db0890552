# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .server_params import ServerParams


class Server(ServerParams):
    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    id: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
