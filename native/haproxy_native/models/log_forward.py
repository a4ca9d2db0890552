# Generated from openapi/ by `make generate`; do not edit.

from . import bind, dgram_bind, log_targets
from .log_forward_base import LogForwardBase


class LogForward(LogForwardBase):
    """A log-forward section with its listeners and targets."""

    binds: dict[str, bind.Bind] | None = None
    """Listeners by name."""
    dgram_binds: dict[str, dgram_bind.DgramBind] | None = None
    """Datagram listeners by name."""
    log_target_list: log_targets.LogTargets | None = None
    """Where logs go."""
