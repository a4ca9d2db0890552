# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import ConfigDict, StrictStr


class Declaration(Model):
    """Objects by their collections: a list of sections, an object for global and traces, lists of stored files; unowned as the parameter."""

    model_config = ConfigDict(
        extra='allow',
    )
    unowned: list[StrictStr] | None = None
    """Members that are left to others once an object is created."""
