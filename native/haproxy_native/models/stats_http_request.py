# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class StatsHttpRequest(Model):
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    realm: StrictStr | None = None
    type: Literal['allow', 'deny', 'auth']
