# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .bind_params import BindParams


class Bind(BindParams):
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    port_range_end: Annotated[
        StrictInt | None, Field(alias='port-range-end', ge=1, le=65535)
    ] = None
