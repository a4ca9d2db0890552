# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Acl(Model):
    acl_name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    criterion: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    metadata: dict[str, Any] | None = None
    value: StrictStr | None = None
