# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from .client_side_base import ClientSideBase
from .proxy_base import ProxyBase
from .server_side_base import ServerSideBase


class DefaultsBase(ProxyBase, ClientSideBase, ServerSideBase):
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    maxconn: StrictInt | None = None
    mode: Literal['tcp', 'http', 'log'] | None = None
