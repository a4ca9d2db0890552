# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FcgiSetParam(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    format: StrictStr | None = None
    name: StrictStr | None = None
