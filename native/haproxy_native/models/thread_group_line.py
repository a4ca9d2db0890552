# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class ThreadGroupLine(Model):
    group: StrictStr
    num_or_range: StrictStr
