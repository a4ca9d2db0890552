# Generated from openapi/ by `make generate`; do not edit.

from . import log_targets
from .global_base import GlobalBase


class Global(GlobalBase):
    """The global section (HAProxy Configuration Manual, section 3)."""

    log_target_list: log_targets.LogTargets | None = None
