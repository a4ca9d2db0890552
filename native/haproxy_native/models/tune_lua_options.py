# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TuneLuaOptions(Model):
    """Tuning of Lua (HAProxy Configuration Manual, section 3.2)."""

    bool_sample_conversion: Literal['normal', 'pre-3.1-bug'] | None = None
    """How booleans reach Lua: as such, or as integers as before 3.1."""
    burst_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a script may run without a pause. In milliseconds."""
    forced_yield: StrictInt | None = None
    """Instructions after which a script gives way."""
    log_loggers: Literal['enabled', 'disabled'] | None = None
    """Whether messages of scripts go to the loggers."""
    log_stderr: Literal['auto', 'enabled', 'disabled'] | None = None
    """Whether messages of scripts go to the standard error."""
    maxmem: StrictInt | None = None
    """Memory of Lua in MiB, 0 for any."""
    openlibs: StrictStr | None = None
    """Standard libraries that are loaded, with commas, or all or none."""
    service_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a service may run. In milliseconds."""
    session_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an action, fetch or converter may run. In milliseconds."""
    task_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a task may run. In milliseconds."""
