# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class RingBase(Model):
    description: StrictStr | None = None
    format: Literal['iso', 'local', 'raw', 'rfc3164', 'rfc5424', 'short', 'priority', 'timed'] | None = (
        None
    )
    maxlen: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    size: Annotated[StrictInt | None, Field(ge=0)] = None
    timeout_connect: Annotated[StrictInt | None, Field(ge=0)] = None
    timeout_server: Annotated[StrictInt | None, Field(ge=0)] = None
