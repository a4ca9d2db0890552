# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Acl(Model):
    """A named test, one acl line (HAProxy Configuration Manual, section 7)."""

    acl_name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the test; several lines of one name are alternatives."""
    criterion: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Sample expression that is tested, one word."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    value: StrictStr | None = None
    """Flags and values to compare with, as in the file."""
