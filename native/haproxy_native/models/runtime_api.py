# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from pydantic import Field, StrictStr

from .bind_params import BindParams


class RuntimeApi(BindParams):
    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
