# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Cache(Model):
    max_age: StrictInt | None = None
    max_object_size: StrictInt | None = None
    max_secondary_entries: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    process_vary: StrictBool | None = None
    total_max_size: Annotated[StrictInt | None, Field(ge=1, le=4095)] = None
