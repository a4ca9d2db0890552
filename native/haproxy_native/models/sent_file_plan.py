# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import reload_reason


class SentFilePlan(Model):
    """How HAProxy would get to know of one stored file."""

    store: StrictStr
    """Name of the store as in the paths of storage."""
    name: StrictStr
    """Name under which the file would be stored."""
    diff: StrictStr | None = None
    """Unified difference from the stored file; left out for certificates, for what looks like a key, and for large files."""
    commands: list[StrictStr]
    """Runtime commands, without what they take from the file."""
    reasons: list[reload_reason.ReloadReason]
    """Why a reload is needed."""
    reload: StrictBool
    """Whether a reload is needed."""
