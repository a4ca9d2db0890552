# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class MonitorFail(Model):
    cond: Literal['if', 'unless']
    cond_test: StrictStr
