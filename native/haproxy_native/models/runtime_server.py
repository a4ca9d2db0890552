# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class RuntimeServer(Model):
    """A server as the running HAProxy has it (HAProxy Management Guide, 9.3 show servers state)."""

    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """IP address; `-` while a name has none."""
    admin_state: Literal['ready', 'maint', 'drain'] | None = None
    """What it may do; ready, drained or in maintenance."""
    agent_addr: StrictStr | None = None
    """Address of the agent; `-` for that of the server."""
    agent_port: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    """Port of the agent; 0 for none."""
    agent_state: StrictInt | None = None
    """Bits of the agent check: 1 runs, 2 configured, 4 enabled, 8 paused."""
    backend_forced_id: StrictInt | None = None
    """Whether the number of the backend is from the configuration."""
    backend_id: StrictInt | None = None
    """Number of the backend."""
    backend_name: StrictStr | None = None
    """Name of the backend."""
    check_addr: StrictStr | None = None
    """Address of health checks; `-` for that of the server."""
    check_health: StrictInt | None = None
    """State of health checks, from 0 to rise and fall less one."""
    check_port: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    """Port of health checks; 0 for that of the server."""
    check_result: StrictInt | None = None
    """Result of the last health check."""
    check_state: StrictInt | None = None
    """Bits of the health check: 1 runs, 2 configured, 4 enabled, 8 paused."""
    check_status: StrictInt | None = None
    """Code of the last health check."""
    forced_id: StrictInt | None = None
    """Whether the number of the server is from the configuration."""
    fqdn: StrictStr | None = None
    """The name that the address is resolved from; `-` for none."""
    id: StrictStr | None = None
    """Number of the server within the backend."""
    iweight: StrictInt | None = None
    """Weight that it started with."""
    last_time_change: StrictInt | None = None
    """Seconds since its state last changed."""
    name: StrictStr | None = None
    """Name of the server."""
    operational_state: Literal['up', 'down', 'stopping'] | None = None
    """Whether it is up, going down softly or down."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port; 0 for that of the client."""
    srvrecord: StrictStr | None = None
    """The SRV record that it comes from; `-` for none."""
    use_ssl: StrictBool | None = None
    """Whether TLS is used towards it."""
    uweight: StrictInt | None = None
    """Weight that it has now."""
    weight: StrictInt | None = None
    """Weight, from 0 to 256."""
