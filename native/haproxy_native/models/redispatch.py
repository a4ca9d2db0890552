# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt


class Redispatch(Model):
    enabled: Literal['enabled', 'disabled']
    interval: StrictInt | None = None
