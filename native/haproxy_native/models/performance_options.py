# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class PerformanceOptions(Model):
    busy_polling: StrictBool | None = None
    fd_hard_limit: StrictInt | None = None
    max_spread_checks: Annotated[StrictInt | None, Field(ge=0)] = None
    maxcompcpuusage: StrictInt | None = None
    maxcomprate: StrictInt | None = None
    maxconn: StrictInt | None = None
    maxconnrate: StrictInt | None = None
    maxpipes: StrictInt | None = None
    maxsessrate: StrictInt | None = None
    maxzlibmem: StrictInt | None = None
    no_memory_trimming: StrictBool | None = None
    noepoll: StrictBool | None = None
    noevports: StrictBool | None = None
    nogetaddrinfo: StrictBool | None = None
    nokqueue: StrictBool | None = None
    noktls: StrictBool | None = None
    nopoll: StrictBool | None = None
    noreuseport: StrictBool | None = None
    nosplice: StrictBool | None = None
    profiling_memory: Literal['enabled', 'disabled'] | None = None
    profiling_tasks: Literal['auto', 'enabled', 'disabled'] | None = None
    server_state_base: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    server_state_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    spread_checks: StrictInt | None = None
    thread_hard_limit: StrictInt | None = None
