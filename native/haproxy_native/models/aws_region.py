# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import aws_filters, discovery_status


class AwsRegion(Model):
    access_key_id: StrictStr | None = None
    allowlist: list[aws_filters.AwsFilters] | None = None
    denylist: list[aws_filters.AwsFilters] | None = None
    description: StrictStr | None = None
    enabled: StrictBool
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ipv4_address: Literal['private', 'public']
    name: StrictStr
    region: StrictStr
    retry_timeout: Annotated[StrictInt, Field(ge=1)]
    secret_access_key: StrictStr | None = None
    server_slots_base: StrictInt | None = None
    server_slots_growth_increment: StrictInt | None = None
    server_slots_growth_type: Literal['linear', 'exponential'] | None = None
    status: discovery_status.DiscoveryStatus | None = None
