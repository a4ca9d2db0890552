# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Httpproxy(Model):
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
