# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class BatchResult(Model):
    """The answer to one call."""

    status: StrictInt
    """Its status."""
    body: Any | None = None
    """Its body."""
    headers: dict[str, StrictStr] | None = None
    """Headers that name what of the call was ignored."""
