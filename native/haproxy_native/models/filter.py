# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Filter(Model):
    app_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    bandwidth_limit_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    cache_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    default_limit: StrictInt | None = None
    default_period: StrictInt | None = None
    key: StrictStr | None = None
    limit: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    min_size: StrictInt | None = None
    ot_config: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    spoe_config: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    table: StrictStr | None = None
    trace_hexdump: StrictBool | None = None
    trace_max_fwd: StrictInt | None = None
    trace_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    trace_rnd_forwarding: StrictBool | None = None
    trace_rnd_parsing: StrictBool | None = None
    type: Literal['bwlim-in', 'bwlim-out', 'cache', 'compression', 'comp-req', 'comp-res', 'fcgi-app', 'opentracing', 'spoe', 'trace']
