# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from .bind_params import BindParams


class Bind(BindParams):
    """A listening address with its options, one bind line (HAProxy Configuration Manual, section 5.1)."""

    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address or UNIX path; * or absent for all; several, each with its port, with commas."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the listener, by default its address as it stands in the line."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port; absent for a UNIX path or where the address holds it."""
    port_range_end: Annotated[
        StrictInt | None, Field(alias='port-range-end', ge=1, le=65535)
    ] = None
    """Last port of a range that begins with port."""
