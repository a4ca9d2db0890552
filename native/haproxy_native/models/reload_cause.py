# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import reload_reason


class ReloadCause(Model):
    """One cause of reloads."""

    cause: StrictStr
    """What they have in common."""
    last: StrictStr
    """Id of the last reload that had it."""
    reason: reload_reason.ReloadReason
    reloads: StrictInt
    """How many reloads had it."""
    remedy: StrictStr | None = None
    """An edit after which they are not needed any more, where there is one."""
    share: StrictInt
    """Percentage of the reloads that had it."""
