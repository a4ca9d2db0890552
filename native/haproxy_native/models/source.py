# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Source(Model):
    """Where connections to servers come from, a source line (HAProxy Configuration Manual, section 4.2)."""

    address: StrictStr
    """Address that connections are made from."""
    address_second: StrictStr | None = None
    """Address that is presented to servers."""
    hdr: StrictStr | None = None
    """Header that holds the address to present."""
    interface: StrictStr | None = None
    """Network interface that is used."""
    occ: StrictStr | None = None
    """Which occurrence of the header counts, from 1; from the end when negative."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port that connections are made from."""
    port_second: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port that is presented to servers."""
    usesrc: Literal['address', 'client', 'clientip', 'hdr_ip'] | None = None
    """What is presented to servers as the client's address."""
