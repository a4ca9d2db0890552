# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Source(Model):
    address: StrictStr
    address_second: StrictStr | None = None
    hdr: StrictStr | None = None
    interface: StrictStr | None = None
    occ: StrictStr | None = None
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    port_second: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    usesrc: Literal['address', 'client', 'clientip', 'hdr_ip'] | None = None
