# Generated from openapi/ by `make generate`; do not edit.

from . import bind, dgram_bind, log_targets
from .log_forward_base import LogForwardBase


class LogForward(LogForwardBase):
    binds: dict[str, bind.Bind] | None = None
    dgram_binds: dict[str, dgram_bind.DgramBind] | None = None
    log_target_list: log_targets.LogTargets | None = None
