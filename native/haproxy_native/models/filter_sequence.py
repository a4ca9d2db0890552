# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FilterSequence(Model):
    direction: Literal['request', 'response']
    filters: list[StrictStr]
    metadata: dict[str, Any] | None = None
