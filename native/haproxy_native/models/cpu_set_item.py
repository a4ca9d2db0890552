# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class CpuSetItem(Model):
    directive: Literal['reset', 'drop-cpu', 'only-cpu', 'drop-node', 'only-node', 'drop-cluster', 'only-cluster', 'drop-core', 'only-core', 'drop-thread', 'only-thread']
    set: StrictStr | None = None
