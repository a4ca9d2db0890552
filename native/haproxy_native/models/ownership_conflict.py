# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import StrictStr


class OwnershipConflict(Model):
    """What is declared otherwise by others."""

    object: StrictStr
    """Name of the object."""
    member: StrictStr | None = None
    """Name of the member; absent for the object itself."""
    owners: list[StrictStr]
    """Who owns it; outside is an edit of the file, or a call of another path."""
    theirs: Any | None = None
    """What it is."""
    mine: Any | None = None
    """What is declared."""
