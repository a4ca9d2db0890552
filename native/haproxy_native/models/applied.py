# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import (
    applied_change,
    haproxy_message,
    ownership_conflict,
    planned_tests,
    reload_reason,
)


class Applied(Model):
    """What differed from what was declared."""

    owner: StrictStr | None = None
    """Who declared it; absent for a plan of a whole configuration."""
    version: StrictInt
    """Version of the configuration."""
    created: list[StrictStr]
    """Objects that were missing."""
    changed: list[applied_change.AppliedChange]
    """Members that were not as declared."""
    deleted: list[StrictStr]
    """Objects that were declared before."""
    unchanged: list[StrictStr]
    """Objects that were as declared."""
    taken: list[ownership_conflict.OwnershipConflict]
    """What was taken from others by force."""
    conflicts: list[ownership_conflict.OwnershipConflict] | None = None
    """In a dry run what others own."""
    reload: StrictBool
    """Whether a reload is needed."""
    commands: list[StrictStr] | None = None
    """The runtime commands that HAProxy has taken; in a dry run those that it would."""
    reasons: list[reload_reason.ReloadReason] | None = None
    """Why a reload is needed."""
    plan_token: StrictStr | None = None
    """In a dry run what carries out precisely this, as plan."""
    tests: planned_tests.PlannedTests | None = None
    valid: StrictBool | None = None
    """In a dry run whether HAProxy accepts it."""
    messages: list[haproxy_message.HaproxyMessage] | None = None
    """In a dry run what HAProxy says."""
