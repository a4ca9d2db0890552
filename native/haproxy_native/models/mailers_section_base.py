# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class MailersSectionBase(Model):
    """Mail servers for alerts, one mailers section (HAProxy Configuration Manual 2.6, section 3.6)."""

    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_]+$')]
    """Name of the section."""
    timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a mail may take to be sent. In milliseconds."""
