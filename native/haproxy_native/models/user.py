# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class User(Model):
    groups: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    password: StrictStr
    secure_password: StrictBool
    username: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
