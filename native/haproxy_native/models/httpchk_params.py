# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class HttpchkParams(Model):
    host: StrictStr | None = None
    method: Literal['HEAD', 'PUT', 'POST', 'GET', 'TRACE', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS'] | None = (
        None
    )
    uri: Annotated[StrictStr | None, Field(pattern='^[^ ]*$')] = None
    version: StrictStr | None = None
