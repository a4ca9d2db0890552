# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import (
    effect,
    haproxy_message,
    planned_tests,
    reference,
    reload_reason,
    renamed_file,
)


class Renamed(Model):
    """What a renaming does, or would do."""

    from_: Annotated[StrictStr, Field(alias='from')]
    """Its former name."""
    to: StrictStr
    """Its name now."""
    version: StrictInt | None = None
    """Version of the configuration then."""
    places: list[reference.Reference]
    """Lines that name it, as they were, its own among them."""
    not_followed: list[reference.Reference]
    """What may name it and cannot be followed."""
    carried: list[StrictStr] | None = None
    """What is kept of it beside the configuration and goes with it: owners, overrides."""
    reload: StrictBool
    """Whether a reload is needed."""
    reasons: list[reload_reason.ReloadReason]
    """Why a reload is needed."""
    diff: StrictStr | None = None
    """Unified difference from the current configuration. Of a plan."""
    effects: list[effect.Effect] | None = None
    """Objects and members that change. Of a plan."""
    commands: list[StrictStr] | None = None
    """Runtime commands that take the change live. Of a plan."""
    tests: planned_tests.PlannedTests | None = None
    valid: StrictBool | None = None
    """Whether HAProxy accepts the configuration. Of a plan."""
    messages: list[haproxy_message.HaproxyMessage] | None = None
    """What HAProxy says about the configuration. Of a plan."""
    files: list[renamed_file.RenamedFile] | None = None
    """Plans of the stored files. Of a plan."""
