# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from . import discovery_status, service_allowlist_item, service_denylist_item


class Consul(Model):
    """A Consul agent whose services become backends."""

    model_config = ConfigDict(
        extra='forbid',
    )
    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Host name or address of the agent."""
    defaults: StrictStr | None = None
    """Defaults section that new backends take their settings from."""
    description: StrictStr | None = None
    """What it is for."""
    enabled: StrictBool
    """Whether it is asked for services."""
    health_check_policy: Literal['none', 'any', 'all', 'min'] | None = None
    """Which instances serve: every one, or those of whose checks any, all or a number pass."""
    health_check_policy_min: StrictInt | None = None
    """Number of checks that have to pass with the policy min."""
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """UUID by which it is addressed; given by the server."""
    mode: Literal['http', 'https'] | None = None
    """How the agent is spoken to."""
    name: StrictStr | None = None
    """What it is called."""
    namespace: StrictStr | None = None
    """Namespace of the services."""
    port: Annotated[StrictInt, Field(ge=1, le=65535)]
    """Port of the agent."""
    retry_timeout: Annotated[StrictInt, Field(ge=1)]
    """Seconds between two looks; more after failures."""
    server_slots_base: StrictInt | None = None
    """Servers that a backend has at least; 10 or more."""
    server_slots_growth_increment: StrictInt | None = None
    """Servers that are added at a time in linear growth; 10 or more."""
    server_slots_growth_type: Literal['linear', 'exponential'] | None = None
    """Whether servers are added by a fixed number or doubled."""
    service_allowlist: list[service_allowlist_item.ServiceAllowlistItem] | None = None
    """The only services that are used; beats the denylist."""
    service_denylist: list[service_denylist_item.ServiceDenylistItem] | None = None
    """Services that are not used."""
    service_name_regexp: StrictStr | None = None
    """What the names of the services have to match."""
    status: discovery_status.DiscoveryStatus | None = None
    token: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Access token."""
