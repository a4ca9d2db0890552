# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model


class RejectPrivilegedPorts(Model):
    quic: Literal['enabled', 'disabled'] | None = None
    tcp: Literal['enabled', 'disabled'] | None = None
