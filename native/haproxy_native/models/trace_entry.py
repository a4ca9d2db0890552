# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class TraceEntry(Model):
    """One trace line."""

    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    trace: Annotated[StrictStr, Field(min_length=1)]
    """Source and what is set of it, as in the file."""
