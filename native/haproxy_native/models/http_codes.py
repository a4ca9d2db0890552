# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class HttpCodes(Model):
    """Statuses of one line."""

    value: Annotated[StrictStr, Field(pattern='^[a-zA-Z0-9 +\\-,]+$')]
    """Numbers and ranges with commas, each with + or - to add or take away."""
