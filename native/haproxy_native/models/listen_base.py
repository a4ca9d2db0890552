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
    description: StrictStr | None = None
    force_persist_list: list[persist_condition.PersistCondition] | None = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    id: StrictInt | None = None
    ignore_persist_list: list[persist_condition.PersistCondition] | None = None
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    maxconn: StrictInt | None = None
    mode: Literal['http', 'tcp'] | None = None
    monitor_fail: monitor_fail_1.MonitorFail | None = None
    server_state_file_name: StrictStr | None = None
    spop_check: Literal['enabled', 'disabled'] | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
    use_fcgi_app: StrictStr | None = None
