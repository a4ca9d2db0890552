# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class User(Model):
    """A user, one user line."""

    groups: StrictStr | None = None
    """Names of groups, with commas."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    password: StrictStr
    """Password, or its hash."""
    secure_password: StrictBool
    """Whether password is a hash."""
    username: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')]
    """Name of the user."""
