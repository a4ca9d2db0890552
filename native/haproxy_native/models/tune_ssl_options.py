# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneSslOptions(Model):
    cachesize: StrictInt | None = None
    capture_buffer_size: StrictInt | None = None
    certificate_compression: Literal['auto', 'disabled'] | None = None
    ctx_cache_size: StrictInt | None = None
    default_dh_param: StrictInt | None = None
    force_private_cache: StrictBool | None = None
    hard_maxrecord: StrictInt | None = None
    keylog: Literal['enabled', 'disabled'] | None = None
    lifetime: Annotated[StrictInt | None, Field(ge=0)] = None
    maxrecord: StrictInt | None = None
    ocsp_update_max_delay: StrictInt | None = None
    ocsp_update_min_delay: StrictInt | None = None
