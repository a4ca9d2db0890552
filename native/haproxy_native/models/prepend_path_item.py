# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class PrependPathItem(Model):
    path: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    type: Literal['path', 'cpath'] | None = None
