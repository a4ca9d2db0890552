# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class DgramBind(Model):
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    interface: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    namespace: StrictStr | None = None
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    port_range_end: Annotated[
        StrictInt | None, Field(alias='port-range-end', ge=1, le=65535)
    ] = None
    transparent: StrictBool | None = None
