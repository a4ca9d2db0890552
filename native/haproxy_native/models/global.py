# Generated from openapi/ by `make generate`; do not edit.

from . import log_targets
from .global_base import GlobalBase


class Global(GlobalBase):
    log_target_list: log_targets.LogTargets | None = None
