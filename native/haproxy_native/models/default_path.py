# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class DefaultPath(Model):
    path: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    type: Literal['current', 'config', 'parent', 'origin']
