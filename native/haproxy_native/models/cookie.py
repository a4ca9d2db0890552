# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import attr_item, domain_item


class Cookie(Model):
    attr: list[attr_item.AttrItem] | None = None
    domain: list[domain_item.DomainItem] | None = None
    dynamic: StrictBool | None = None
    httponly: StrictBool | None = None
    indirect: StrictBool | None = None
    maxidle: StrictInt | None = None
    maxlife: StrictInt | None = None
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    nocache: StrictBool | None = None
    postonly: StrictBool | None = None
    preserve: StrictBool | None = None
    secure: StrictBool | None = None
    type: Literal['rewrite', 'insert', 'prefix'] | None = None
