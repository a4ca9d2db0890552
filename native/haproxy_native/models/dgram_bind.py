# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class DgramBind(Model):
    """A datagram listener, one dgram-bind line (HAProxy Configuration Manual 2.6, section 3.10)."""

    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address or UNIX path; * or absent for all."""
    interface: StrictStr | None = None
    """Network interface to which the socket is bound."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the listener, by default its address as it stands in the line."""
    namespace: StrictStr | None = None
    """Network namespace of the socket."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port; absent for a UNIX path or where the address holds it."""
    port_range_end: Annotated[
        StrictInt | None, Field(alias='port-range-end', ge=1, le=65535)
    ] = None
    """Last port of a range that begins with port."""
    transparent: StrictBool | None = None
    """Whether the address need not be one of this machine."""
