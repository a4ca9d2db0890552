# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictStr

from .bind_params import BindParams


class DefaultBind(BindParams):
    """Options for all listeners of a peers section, one default-bind line."""

    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the listener."""
