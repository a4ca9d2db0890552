# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class LogSendHostname(Model):
    enabled: Literal['enabled', 'disabled']
    param: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
