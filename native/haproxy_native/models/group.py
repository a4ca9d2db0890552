# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Group(Model):
    """A group of users, one group line."""

    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
    """Name of the group."""
    users: StrictStr | None = None
    """Names of users, with commas."""
