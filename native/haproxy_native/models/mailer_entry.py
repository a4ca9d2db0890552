# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class MailerEntry(Model):
    """A mail server, one mailer line."""

    address: Annotated[StrictStr, Field(pattern='^\\S+$')]
    """Where the mail server is reached."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_${}"]+$')]
    """Name of the mail server."""
    port: Annotated[StrictInt, Field(ge=1, le=65535)]
    """TCP port of the mail server."""
