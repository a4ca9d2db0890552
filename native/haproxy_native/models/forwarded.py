# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class Forwarded(Model):
    by: StrictBool | None = None
    by_expr: StrictStr | None = None
    by_port: StrictBool | None = None
    by_port_expr: StrictStr | None = None
    enabled: Literal['enabled', 'disabled']
    for_: Annotated[StrictBool | None, Field(alias='for')] = None
    for_expr: StrictStr | None = None
    for_port: StrictBool | None = None
    for_port_expr: StrictStr | None = None
    host: StrictBool | None = None
    host_expr: StrictStr | None = None
    proto: StrictBool | None = None
