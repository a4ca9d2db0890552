# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model

from . import reject_privileged_ports as reject_privileged_ports_1


class Harden(Model):
    reject_privileged_ports: reject_privileged_ports_1.RejectPrivilegedPorts | None = (
        None
    )
