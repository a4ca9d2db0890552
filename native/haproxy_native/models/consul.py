# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import ConfigDict, Field, StrictBool, StrictInt, StrictStr

from . import discovery_status, service_allowlist_item, service_denylist_item


class Consul(Model):
    model_config = ConfigDict(
        extra='forbid',
    )
    address: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    defaults: StrictStr | None = None
    description: StrictStr | None = None
    enabled: StrictBool
    health_check_policy: Literal['none', 'any', 'all', 'min'] | None = None
    health_check_policy_min: StrictInt | None = None
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    mode: Literal['http', 'https'] | None = None
    name: StrictStr | None = None
    namespace: StrictStr | None = None
    port: Annotated[StrictInt, Field(ge=1, le=65535)]
    retry_timeout: Annotated[StrictInt, Field(ge=1)]
    server_slots_base: StrictInt | None = None
    server_slots_growth_increment: StrictInt | None = None
    server_slots_growth_type: Literal['linear', 'exponential'] | None = None
    service_allowlist: list[service_allowlist_item.ServiceAllowlistItem] | None = None
    service_denylist: list[service_denylist_item.ServiceDenylistItem] | None = None
    service_name_regexp: StrictStr | None = None
    status: discovery_status.DiscoveryStatus | None = None
    token: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
