# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class Gpt(Model):
    idx: StrictInt | None = None
    value: StrictInt | None = None
