# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class RuntimeServer(Model):
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    admin_state: Literal['ready', 'maint', 'drain'] | None = None
    agent_addr: StrictStr | None = None
    agent_port: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    agent_state: StrictInt | None = None
    backend_forced_id: StrictInt | None = None
    backend_id: StrictInt | None = None
    backend_name: StrictStr | None = None
    check_addr: StrictStr | None = None
    check_health: StrictInt | None = None
    check_port: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    check_result: StrictInt | None = None
    check_state: StrictInt | None = None
    check_status: StrictInt | None = None
    forced_id: StrictInt | None = None
    fqdn: StrictStr | None = None
    id: StrictStr | None = None
    iweight: StrictInt | None = None
    last_time_change: StrictInt | None = None
    name: StrictStr | None = None
    operational_state: Literal['up', 'down', 'stopping'] | None = None
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    srvrecord: StrictStr | None = None
    use_ssl: StrictBool | None = None
    uweight: StrictInt | None = None
    weight: StrictInt | None = None
