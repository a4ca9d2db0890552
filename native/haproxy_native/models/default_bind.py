# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from pydantic import Field, StrictStr

from .bind_params import BindParams


class DefaultBind(BindParams):
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
