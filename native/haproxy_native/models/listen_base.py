# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from . import config_stick_table
from . import monitor_fail as monitor_fail_1
from . import persist_condition
from .client_side_base import ClientSideBase
from .proxy_base import ProxyBase
from .server_side_base import ServerSideBase


class ListenBase(ProxyBase, ClientSideBase, ServerSideBase):
    """A frontend and a backend in one section. HAProxy Configuration Manual, section 4.1."""

    description: StrictStr | None = None
    """Text about the proxy, shown in the statistics."""
    force_persist_list: list[persist_condition.PersistCondition] | None = None
    """When a server that is down is used all the same for clients that stick to it."""
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    """Globally unique identifier of the proxy."""
    id: StrictInt | None = None
    """Number of the proxy in statistics and commands."""
    ignore_persist_list: list[persist_condition.PersistCondition] | None = None
    """When the cookie that ties a client to a server is not looked at."""
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the program in syslog headers."""
    maxconn: StrictInt | None = None
    """Connections at the same time; more of them wait in the system's queue."""
    mode: Literal['http', 'tcp'] | None = None
    """Protocol that the proxy understands."""
    monitor_fail: monitor_fail_1.MonitorFail | None = None
    server_state_file_name: StrictStr | None = None
    """File below server-state-base with the state of the servers."""
    spop_check: Literal['enabled', 'disabled'] | None = None
    """Check servers by the hello of the stream processing protocol."""
    stick_table: config_stick_table.ConfigStickTable | None = None
    use_fcgi_app: StrictStr | None = None
    """FastCGI application that the servers are asked through."""
