# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from . import config_stick_table
from . import monitor_fail as monitor_fail_1
from .client_side_base import ClientSideBase
from .proxy_base import ProxyBase


class FrontendBase(ProxyBase, ClientSideBase):
    description: StrictStr | None = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    id: StrictInt | None = None
    log_tag: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')] = None
    maxconn: StrictInt | None = None
    mode: Literal['http', 'tcp'] | None = None
    monitor_fail: monitor_fail_1.MonitorFail | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
