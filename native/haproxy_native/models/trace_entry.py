# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class TraceEntry(Model):
    metadata: dict[str, Any] | None = None
    trace: Annotated[StrictStr, Field(min_length=1)]
