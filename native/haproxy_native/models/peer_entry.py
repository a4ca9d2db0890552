# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class PeerEntry(Model):
    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
    port: Annotated[StrictInt, Field(ge=1, le=65535)]
    shard: StrictInt | None = None
