# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Table(Model):
    expire: Annotated[StrictStr | None, Field(pattern='^\\d+(ms|s|m|h|d)?$')] = None
    metadata: dict[str, Any] | None = None
    name: StrictStr
    no_purge: StrictBool | None = None
    recv_only: StrictBool | None = None
    size: Annotated[StrictStr | None, Field(pattern='^\\d+(k|K|m|M|g|G)?$')] = None
    store: StrictStr | None = None
    type: Literal['ip', 'integer', 'string', 'binary'] | None = None
    type_len: StrictInt | None = None
    write_to: StrictStr | None = None
