# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FilterSequence(Model):
    """Order of the filters in one direction, one filter-sequence line (since HAProxy 3.4)."""

    direction: Literal['request', 'response']
    """Whether requests or responses pass in this order."""
    filters: list[StrictStr]
    """Names of the filters, first to last."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
