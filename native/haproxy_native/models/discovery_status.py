# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class DiscoveryStatus(Model):
    last_error: StrictStr | None = None
    last_error_at: AwareDatetime | None = None
    last_success: AwareDatetime | None = None
    next_try: AwareDatetime | None = None
    reload_id: StrictStr | None = None
    servers: StrictInt | None = None
    services: StrictInt | None = None
    state: Literal['working', 'failing'] | None = None
