# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class CpuInfo(Model):
    model: StrictStr | None = None
    num_cpus: StrictInt | None = None
