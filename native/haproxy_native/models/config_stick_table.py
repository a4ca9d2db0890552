# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class ConfigStickTable(Model):
    expire: Annotated[StrictInt | None, Field(ge=0)] = None
    keylen: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    nopurge: StrictBool | None = None
    peers: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    recv_only: StrictBool | None = None
    size: Annotated[StrictInt | None, Field(ge=0)] = None
    srvkey: Literal['addr', 'name'] | None = None
    store: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    type: Literal['ip', 'ipv6', 'integer', 'string', 'binary'] | None = None
    write_to: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
