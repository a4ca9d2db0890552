# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from . import config_stick_table, persist_condition
from .proxy_base import ProxyBase
from .server_side_base import ServerSideBase


class BackendBase(ProxyBase, ServerSideBase):
    description: StrictStr | None = None
    force_persist: persist_condition.PersistCondition | None = None
    force_persist_list: list[persist_condition.PersistCondition] | None = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    http_no_delay: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-no-delay')
    ] = None
    id: StrictInt | None = None
    ignore_persist: persist_condition.PersistCondition | None = None
    ignore_persist_list: list[persist_condition.PersistCondition] | None = None
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    mode: Literal['http', 'tcp', 'log'] | None = None
    server_state_file_name: StrictStr | None = None
    spop_check: Literal['enabled', 'disabled'] | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
    use_fcgi_app: StrictStr | None = None
