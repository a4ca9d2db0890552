# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ReloadChange(Model):
    """A change of the configuration that was part of a failed reload."""

    author: StrictStr | None = None
    """Who made it, as in the history; outside for an edit of the file by others."""
    entry: StrictStr | None = None
    """Id of its entry in the history."""
    outcome: Literal['kept', 'taken_back']
    """Whether it is still in the configuration."""
    raw: StrictStr | None = None
    """Path of the configuration with this change."""
    request_id: StrictStr | None = None
    """Id of the request that made it."""
    version: StrictInt
    """Version of the configuration that it made."""
