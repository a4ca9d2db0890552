# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class StickRule(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    pattern: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    table: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    type: Literal['match', 'on', 'store-request', 'store-response']
