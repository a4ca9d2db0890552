# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class ConfigStickTable(Model):
    """A stick-table line (HAProxy Configuration Manual, section 11.1)."""

    expire: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds after which an unused entry may go."""
    keylen: StrictInt | None = None
    """Characters or bytes that a key has at most."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    nopurge: StrictBool | None = None
    """Whether old entries stay when the table is full."""
    peers: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Peers section with which entries are shared."""
    recv_only: StrictBool | None = None
    """Whether updates are taken from peers and none sent."""
    size: Annotated[StrictInt | None, Field(ge=0)] = None
    """Entries that fit. In bytes."""
    srvkey: Literal['addr', 'name'] | None = None
    """What identifies a server towards peers."""
    store: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Data kept with each entry, separated by commas."""
    type: Literal['ip', 'ipv6', 'integer', 'string', 'binary'] | None = None
    """Kind of the keys."""
    write_to: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Table that takes the updates instead of this one."""
