# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import default_bind as default_bind_1
from . import default_server as default_server_1


class PeerSectionBase(Model):
    default_bind: default_bind_1.DefaultBind | None = None
    default_server: default_server_1.DefaultServer | None = None
    disabled: StrictBool | None = None
    enabled: StrictBool | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    shards: StrictInt | None = None
