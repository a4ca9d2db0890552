# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictFloat, StrictInt, StrictStr

from . import reload_change


class ReloadEvent(Model):
    """A reload that has ended, of type reload."""

    id: StrictStr
    """Its id."""
    status: Literal['succeeded', 'failed']
    """What came of it."""
    seconds: StrictFloat
    """How long it took."""
    keywords: list[StrictStr] | None = None
    """Of the lines that made it necessary."""
    version: StrictInt | None = None
    """The version that was loaded."""
    response: StrictStr | None = None
    """What HAProxy said."""
    changes: list[reload_change.ReloadChange] | None = None
    """After a failure: what became of each change that HAProxy had not loaded."""
    rest_reload_id: StrictStr | None = None
    """After a failure: id of the reload that loads the changes that were kept, where they need one."""
    notes: list[StrictStr] | None = None
    """After a failure: which edits by others were taken back, and where they are kept."""
