# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr

from .client_side_base import ClientSideBase
from .proxy_base import ProxyBase
from .server_side_base import ServerSideBase


class DefaultsBase(ProxyBase, ClientSideBase, ServerSideBase):
    """Members of a defaults section itself (HAProxy Configuration Manual, section 4.1)."""

    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Tag of log lines in place of the process's."""
    maxconn: StrictInt | None = None
    """Connections that each frontend serves at the same time."""
    mode: Literal['tcp', 'http', 'log'] | None = None
    """Protocol of the proxies that inherit from it."""
