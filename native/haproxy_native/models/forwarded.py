# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class Forwarded(Model):
    """Header of RFC 7239 for servers (HAProxy Configuration Manual, section 4.2 \"option forwarded\")."""

    by: StrictBool | None = None
    """Whether the address of the receiving socket is sent."""
    by_expr: StrictStr | None = None
    """Sample expression that tells the receiver."""
    by_port: StrictBool | None = None
    """Whether the receiving port is sent."""
    by_port_expr: StrictStr | None = None
    """Sample expression that tells the receiver's port."""
    enabled: Literal['enabled', 'disabled']
    """Whether the header is added."""
    for_: Annotated[StrictBool | None, Field(alias='for')] = None
    """Whether the client's address is sent."""
    for_expr: StrictStr | None = None
    """Sample expression that tells the client."""
    for_port: StrictBool | None = None
    """Whether the client's port is sent."""
    for_port_expr: StrictStr | None = None
    """Sample expression that tells the client's port."""
    host: StrictBool | None = None
    """Whether the requested host is sent."""
    host_expr: StrictStr | None = None
    """Sample expression that tells the host."""
    proto: StrictBool | None = None
    """Whether the scheme is sent."""
