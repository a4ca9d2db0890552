# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Reload(Model):
    """What became of one scheduled reload."""

    id: Annotated[StrictStr | None, Field(pattern='^\\d{4}-\\d{2}-\\d{2}-\\d+$')] = None
    """Date and number of the reload."""
    reload_timestamp: StrictInt | None = None
    """When it was done in seconds since 1970."""
    response: StrictStr | None = None
    """What HAProxy or the reload command said."""
    status: Literal['failed', 'in_progress', 'succeeded'] | None = None
    """How far it is."""
