# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model

from . import api as api_1
from . import system as system_1


class Info(Model):
    api: api_1.Api | None = None
    system: system_1.System | None = None
