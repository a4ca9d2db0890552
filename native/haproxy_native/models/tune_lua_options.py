# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TuneLuaOptions(Model):
    bool_sample_conversion: Literal['normal', 'pre-3.1-bug'] | None = None
    burst_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    forced_yield: StrictInt | None = None
    log_loggers: Literal['enabled', 'disabled'] | None = None
    log_stderr: Literal['auto', 'enabled', 'disabled'] | None = None
    maxmem: StrictInt | None = None
    openlibs: StrictStr | None = None
    service_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    session_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    task_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
