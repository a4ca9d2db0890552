# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class BatchCall(Model):
    """One call of a batch."""

    method: Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    """Its method."""
    path: Annotated[StrictStr, Field(max_length=8000)]
    """Its path with its query, without version and transaction_id, as in /v3/services/haproxy/configuration/backends."""
    body: Any | None = None
    """Its body."""
    file: Annotated[StrictStr | None, Field(max_length=255)] = None
    """Name of a stored file whose content the body is, sent as the part file_upload of a form."""
    content_type: Annotated[StrictStr | None, Field(max_length=200)] = None
    """Type of the body; application/json without it."""
