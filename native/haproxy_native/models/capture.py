# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictInt


class Capture(Model):
    length: StrictInt
    metadata: dict[str, Any] | None = None
    type: Literal['request', 'response']
