# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import split_plan


class SplitConflict(Model):
    """Why a split cannot take effect."""

    code: StrictInt
    """The status."""
    message: StrictStr
    """What to do."""
    plan: split_plan.SplitPlan | None = None
