# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from . import config_stick_table, persist_condition
from .proxy_base import ProxyBase
from .server_side_base import ServerSideBase


class BackendBase(ProxyBase, ServerSideBase):
    """Members of a backend section itself (HAProxy Configuration Manual, section 4.1)."""

    description: StrictStr | None = None
    """Text about the backend that the statistics page shows."""
    force_persist: persist_condition.PersistCondition | None = None
    force_persist_list: list[persist_condition.PersistCondition] | None = None
    """Conditions under which cookies may lead to servers that are down."""
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    """Identifier of the backend that is unique in the whole file."""
    http_no_delay: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-no-delay')
    ] = None
    """Whether data is passed on at once, without waiting for full packets."""
    id: StrictInt | None = None
    """Number by which the backend is known, above 0."""
    ignore_persist: persist_condition.PersistCondition | None = None
    ignore_persist_list: list[persist_condition.PersistCondition] | None = None
    """Conditions under which cookies do not choose the server."""
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Tag of log lines in place of the process's."""
    mode: Literal['http', 'tcp', 'log'] | None = None
    """Protocol of the backend."""
    server_state_file_name: StrictStr | None = None
    """File below server-state-base that holds the states of the servers."""
    spop_check: Literal['enabled', 'disabled'] | None = None
    """Whether health checks speak SPOP."""
    stick_table: config_stick_table.ConfigStickTable | None = None
    use_fcgi_app: StrictStr | None = None
    """FastCGI application that the servers speak for."""
