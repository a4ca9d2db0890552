# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import balance as balance_1
from . import forwardfor as forwardfor_1
from . import server


class Farm(Model):
    balance: balance_1.Balance | None = None
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    mode: Literal['http', 'tcp'] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    servers: list[server.Server] | None = None
    use_as: Literal['default', 'conditional']
