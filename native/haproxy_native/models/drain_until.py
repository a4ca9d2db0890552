# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class DrainUntil(Model):
    """When servers are idle."""

    sessions: Annotated[StrictInt | None, Field(ge=0)] = None
    """Sessions of each server at most, in all processes."""
