# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Transaction(Model):
    field_version: Annotated[StrictInt | None, Field(alias='_version')] = None
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    status: Literal['failed', 'outdated', 'in_progress', 'success'] | None = None
