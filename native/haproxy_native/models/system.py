# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import cpu_info as cpu_info_1
from . import mem_info as mem_info_1


class System(Model):
    cpu_info: cpu_info_1.CpuInfo | None = None
    hostname: StrictStr | None = None
    mem_info: mem_info_1.MemInfo | None = None
    os_string: StrictStr | None = None
    time: StrictInt | None = None
    uptime: StrictInt | None = None
