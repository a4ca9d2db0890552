# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class ServerSwitchingRule(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    target_server: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
