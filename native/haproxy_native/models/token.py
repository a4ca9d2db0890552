# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import AwareDatetime, Field, StrictStr


class Token(Model):
    """Credentials of a program."""

    id: StrictStr | None = None
    """Its id, by which history and log name it."""
    role: Any | None = None
    """Role that it acts with, or a list of them. Left out where the settings have no roles, and only there."""
    ttl: StrictStr
    """How long it is good, such as 90s, 12h or 720h, at most 8784h."""
    from_: Annotated[list[StrictStr] | None, Field(alias='from', max_length=50)] = None
    """Networks or addresses that it may be used from; any without them."""
    note: Annotated[StrictStr | None, Field(max_length=200)] = None
    """What it is for."""
    creator: StrictStr | None = None
    """Who has created it."""
    created: AwareDatetime | None = None
    """When it was created."""
    expires: AwareDatetime | None = None
    """When it ends."""
    last_used: AwareDatetime | None = None
    """When it was last used."""
    last_address: StrictStr | None = None
    """Where from it was last used."""
    state: StrictStr | None = None
    """Why it has no rights now; absent while it has."""
    secret: StrictStr | None = None
    """What is sent as Authorization: Bearer; in the answer that creates it alone."""
