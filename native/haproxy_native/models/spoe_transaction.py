# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class SpoeTransaction(Model):
    """Changes of one SPOE file that are committed together."""

    field_version: Annotated[StrictInt | None, Field(alias='_version')] = None
    """Version of the file that it started from."""
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Id of the transaction."""
    status: Literal['failed', 'in_progress', 'success'] | None = None
    """What became of it."""
