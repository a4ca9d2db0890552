# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class AccessQuestion(Model):
    """A call that might be made."""

    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    """Its method."""
    path: Annotated[StrictStr, Field(max_length=8000)]
    """Its path with its query, as in /v3/services/haproxy/configuration/backends?version=1."""
    body: Any | None = None
    """Its body; a text is sent as it is."""
    content_type: Annotated[StrictStr | None, Field(max_length=200)] = None
    """Type of the body; text/plain for a text, and else application/json without it."""
    user: Annotated[StrictStr | None, Field(max_length=200)] = None
    """User who would make it, if not the caller; for admins."""
    role: Annotated[StrictStr | None, Field(max_length=200)] = None
    """Role with which it would be made, if not that of the caller; for admins."""
