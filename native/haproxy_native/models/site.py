# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import farm
from . import service as service_1


class Site(Model):
    farms: list[farm.Farm] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    service: service_1.Service | None = None
