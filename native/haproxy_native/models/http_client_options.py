# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HttpClientOptions(Model):
    """How HAProxy itself speaks HTTP, for Lua and OCSP (HAProxy Configuration Manual, section 3.1)."""

    resolvers_disabled: Literal['enabled', 'disabled'] | None = None
    """Whether names are not resolved."""
    resolvers_id: StrictStr | None = None
    """Name of the resolvers section."""
    resolvers_prefer: Literal['ipv4', 'ipv6'] | None = None
    """Preferred address family."""
    retries: StrictInt | None = None
    """Attempts after a failure."""
    ssl_ca_file: StrictStr | None = None
    """PEM file with the authorities of servers."""
    ssl_verify: Literal['', 'none', 'required'] | None = None
    """Whether certificates of servers are verified."""
    timeout_connect: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a connection may take to be made. In milliseconds."""
