# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class Sample(Model):
    ranges: StrictStr
    size: StrictInt
