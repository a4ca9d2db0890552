# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model


class CpuAffinity(Model):
    affinity: Literal['per-core', 'per-group', 'auto', 'per-thread', 'per-ccx']
    argument: Literal['auto', 'loose'] | None = None
