# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Load(Model):
    file: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
