# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class ForceBeSwitch(Model):
    cond: Literal['if', 'unless']
    cond_test: StrictStr
    metadata: dict[str, Any] | None = None
