# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class Transaction(Model):
    """A set of changes that are made together."""

    field_version: Annotated[StrictInt | None, Field(alias='_version')] = None
    """Version of the configuration that it started from."""
    id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """UUID by which it is addressed."""
    status: Literal['failed', 'outdated', 'in_progress', 'success'] | None = None
    """How far it is."""
