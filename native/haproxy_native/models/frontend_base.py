# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from . import config_stick_table
from . import monitor_fail as monitor_fail_1
from .client_side_base import ClientSideBase
from .proxy_base import ProxyBase


class FrontendBase(ProxyBase, ClientSideBase):
    """Members of a frontend section itself (HAProxy Configuration Manual, section 4.1)."""

    description: StrictStr | None = None
    """Text about the frontend that the statistics page shows."""
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    """Identifier of the frontend that is unique in the whole file."""
    id: StrictInt | None = None
    """Number by which the frontend is known, above 0."""
    log_tag: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')] = None
    """Tag of log lines in place of the process's."""
    maxconn: StrictInt | None = None
    """Connections that are served at the same time."""
    mode: Literal['http', 'tcp'] | None = None
    """Protocol of the frontend."""
    monitor_fail: monitor_fail_1.MonitorFail | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
