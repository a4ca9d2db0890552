# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model

from . import api as api_1
from . import system as system_1


class Info(Model):
    """About this server and the machine it runs on."""

    api: api_1.Api | None = None
    """Which build of the server it is."""
    system: system_1.System | None = None
    """The machine; empty unless show_system_info is on."""
