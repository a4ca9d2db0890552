# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import (
    batch_result,
    effect,
    haproxy_message,
    planned_tests,
    reload_reason,
    sent_file_plan,
)


class BatchDone(Model):
    """What has become of a batch."""

    version: StrictInt
    """That of the configuration with all of it."""
    reload: StrictBool
    """Whether a reload is needed."""
    reasons: list[reload_reason.ReloadReason] | None = None
    """Why."""
    results: list[batch_result.BatchResult]
    """What each call would have been answered, in their order."""
    diff: StrictStr | None = None
    """In a dry run the difference as text."""
    effects: list[effect.Effect] | None = None
    """In a dry run what it changes."""
    files: list[sent_file_plan.SentFilePlan] | None = None
    """In a dry run the plans of stored files."""
    commands: list[StrictStr] | None = None
    """In a dry run the runtime commands."""
    tests: planned_tests.PlannedTests | None = None
    valid: StrictBool | None = None
    """In a dry run whether HAProxy accepts it."""
    messages: list[haproxy_message.HaproxyMessage] | None = None
    """In a dry run what HAProxy says."""
