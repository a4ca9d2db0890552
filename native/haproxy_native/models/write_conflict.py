# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class WriteConflict(Model):
    """One member that two changes have set to different values."""

    object: StrictStr
    """Name of the object."""
    member: StrictStr | None = None
    """Name of the member, or of the list without names; absent for the object itself."""
    theirs: Any | None = None
    """What it is; absent where it is gone."""
    mine: Any | None = None
    """What this change makes of it; absent where it removes it."""
    author: StrictStr | None = None
    """Who has changed it last; outside for an edit of the file."""
    entry: StrictStr | None = None
    """Id of that change in the history."""
    version: StrictInt | None = None
    """The version that it has made."""
    time: AwareDatetime | None = None
    """When."""
