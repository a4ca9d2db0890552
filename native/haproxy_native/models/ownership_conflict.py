# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


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
    line: StrictInt | None = None
    """The line of the file at which it stands, of the map for an entry; absent for other stored files."""
    file: StrictStr | None = None
    """The file, where it stands in another one than the main file of the configuration."""
    author: StrictStr | None = None
    """Who has changed the object last, where outside owns it and the history knows."""
    entry: StrictStr | None = None
    """Id of that change in the history."""
    version: StrictInt | None = None
    """The version that it has made."""
    time: AwareDatetime | None = None
    """When."""
