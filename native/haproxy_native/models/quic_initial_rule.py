# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class QuicInitialRule(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    type: Literal['reject', 'accept', 'send-retry', 'dgram-drop']
