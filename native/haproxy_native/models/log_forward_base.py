# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class LogForwardBase(Model):
    assume_rfc6587_ntf: Annotated[
        StrictBool | None, Field(alias='assume-rfc6587-ntf')
    ] = None
    backlog: StrictInt | None = None
    dont_parse_log: Annotated[StrictBool | None, Field(alias='dont-parse-log')] = None
    maxconn: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    timeout_client: Annotated[StrictInt | None, Field(ge=0, le=2147483647)] = None
