# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class ExplainReply(Model):
    """What the server answers."""

    status: Annotated[StrictInt | None, Field(ge=200, le=599)] = None
    """Its status."""
    headers: dict[str, Any] | None = None
    """Its headers, a value or a list of values each."""
