# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import farm
from . import service as service_1


class Site(Model):
    """A frontend with its listeners and the backends it uses, seen as one thing."""

    farms: list[farm.Farm] | None = None
    """Backends."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the frontend."""
    service: service_1.Service | None = None
    """The frontend."""
