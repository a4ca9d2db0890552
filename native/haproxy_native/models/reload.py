# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Reload(Model):
    id: Annotated[StrictStr | None, Field(pattern='^\\d{4}-\\d{2}-\\d{2}-\\d+$')] = None
    reload_timestamp: StrictInt | None = None
    response: StrictStr | None = None
    status: Literal['failed', 'in_progress', 'succeeded'] | None = None
