# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Filter(Model):
    """What sees and changes the traffic of a proxy, one filter line (HAProxy Configuration Manual, section 9)."""

    app_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the fcgi-app section."""
    bandwidth_limit_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name by which rules call the limitation."""
    cache_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the cache section."""
    default_limit: StrictInt | None = None
    """Bytes per period for each stream."""
    default_period: StrictInt | None = None
    """Length of the period, in ms. In milliseconds."""
    key: StrictStr | None = None
    """Sample expression that tells who shares the limit, one word."""
    limit: StrictInt | None = None
    """Bytes for all streams of one key."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    min_size: StrictInt | None = None
    """Smallest number of bytes that is forwarded at a time."""
    ot_config: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that configures OpenTracing."""
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name by which rules call the filter."""
    spoe_config: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that configures the SPOE engine."""
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the SPOE engine in its file."""
    table: StrictStr | None = None
    """Proxy whose stick table is used; else the one of the proxy itself."""
    trace_hexdump: StrictBool | None = None
    """Whether forwarded bytes are printed."""
    trace_max_fwd: StrictInt | None = None
    """Bytes forwarded at a time at most."""
    trace_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name printed with the traces."""
    trace_rnd_forwarding: StrictBool | None = None
    """Whether random amounts are forwarded."""
    trace_rnd_parsing: StrictBool | None = None
    """Whether random amounts are parsed."""
    type: Literal['bwlim-in', 'bwlim-out', 'cache', 'compression', 'comp-req', 'comp-res', 'fcgi-app', 'opentracing', 'spoe', 'trace']
    """Kind of the filter; it tells which other members count."""
