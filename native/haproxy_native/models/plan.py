# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import (
    effect,
    haproxy_message,
    planned_tests,
    reload_reason,
    sent_file_plan,
    write_conflict,
)


class Plan(Model):
    """What a configuration would change, and how it would be applied."""

    commands: list[StrictStr]
    """Runtime commands that take the change live."""
    diff: StrictStr
    """Unified difference from the current configuration."""
    effects: list[effect.Effect]
    """Objects and members that change."""
    files: list[sent_file_plan.SentFilePlan] | None = None
    """Plans of the stored files that change with it."""
    messages: list[haproxy_message.HaproxyMessage]
    """What HAProxy says about the configuration."""
    reasons: list[reload_reason.ReloadReason]
    """Why a reload is needed."""
    reload: StrictBool
    """Whether a reload is needed, also for one of the files."""
    text: StrictStr | None = None
    """With `add`: the main file with these lines, for a raw push. Left out if they go into other files as well."""
    tests: planned_tests.PlannedTests | None = None
    valid: StrictBool
    """Whether HAProxy accepts the configuration."""
    conflict: StrictStr | None = None
    """Of an outdated transaction why it cannot be merged; the rest is then of what it started from."""
    conflicts: list[write_conflict.WriteConflict] | None = None
    """What it has changed and others as well."""
