# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import planned_tests, reload_reason


class FilePlan(Model):
    """How HAProxy would get to know of other content of a stored file."""

    commands: list[StrictStr]
    """Runtime commands, without what they take from the file."""
    reasons: list[reload_reason.ReloadReason]
    """Why a reload is needed."""
    reload: StrictBool
    """Whether a reload is needed."""
    tests: planned_tests.PlannedTests | None = None
