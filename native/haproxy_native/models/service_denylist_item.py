# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from pydantic import Field, RootModel, StrictStr


class ServiceDenylistItem(RootModel[StrictStr]):
    root: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
