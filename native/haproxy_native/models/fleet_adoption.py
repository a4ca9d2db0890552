# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field


class FleetAdoption(Model):
    """Which configuration to adopt."""

    from_: Annotated[Literal['node', 'store'], Field(alias='from')]
    """The side that is right."""
