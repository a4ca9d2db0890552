# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import aws_filters, discovery_status


class AwsRegion(Model):
    """A region of AWS whose EC2 instances become servers."""

    access_key_id: StrictStr | None = None
    """Id of the access key; without both halves of a key, credentials are sought as usual."""
    allowlist: list[aws_filters.AwsFilters] | None = None
    """What instances have to match."""
    denylist: list[aws_filters.AwsFilters] | None = None
    """What instances must not match."""
    description: StrictStr | None = None
    """What it is for."""
    enabled: StrictBool
    """Whether it is asked for instances."""
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """UUID by which it is addressed; given by the server."""
    ipv4_address: Literal['private', 'public']
    """Which address of an instance is used."""
    name: StrictStr
    """What it is called, also in the names of its backends."""
    region: StrictStr
    """Name of the region."""
    retry_timeout: Annotated[StrictInt, Field(ge=1)]
    """Seconds between two looks; more after failures."""
    secret_access_key: StrictStr | None = None
    """The secret half of the access key."""
    server_slots_base: StrictInt | None = None
    """Servers that a backend has at least; 10 or more."""
    server_slots_growth_increment: StrictInt | None = None
    """Servers that are added at a time in linear growth; 10 or more."""
    server_slots_growth_type: Literal['linear', 'exponential'] | None = None
    """Whether servers are added by a fixed number or doubled."""
    status: discovery_status.DiscoveryStatus | None = None
