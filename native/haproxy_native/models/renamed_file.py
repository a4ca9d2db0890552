# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import reload_reason


class RenamedFile(Model):
    """How HAProxy would get to know of a stored file."""

    object: StrictStr
    """Its name."""
    commands: list[StrictStr]
    """Runtime commands, without what they take from the file."""
    reasons: list[reload_reason.ReloadReason]
    """Why a reload is needed."""
    reload: StrictBool
    """Whether a reload is needed."""
