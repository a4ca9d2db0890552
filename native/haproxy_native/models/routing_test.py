# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import routing_case


class RoutingTest(Model):
    """Requests, and what is to become of them."""

    name: Annotated[
        StrictStr | None,
        Field(max_length=64, pattern='^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$'),
    ] = None
    """Its name, as in its path."""
    description: Annotated[StrictStr | None, Field(max_length=1000)] = None
    """What it is for."""
    cases: Annotated[
        list[routing_case.RoutingCase], Field(max_length=20000, min_length=1)
    ]
    """One request each. They do not depend on each other."""
