# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import field


class StickTable(Model):
    fields: list[field.Field] | None = None
    name: StrictStr | None = None
    size: StrictInt | None = None
    type: Literal['ip', 'ipv6', 'integer', 'string', 'binary'] | None = None
    used: StrictInt | None = None
