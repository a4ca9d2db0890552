# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr


class FleetNode(Model):
    """What a node reports."""

    name: StrictStr
    """Its name."""
    number: StrictInt | None = None
    """The release that the phase is about."""
    phase: Literal['held', 'waiting', 'checked', 'baking', 'good', 'refused', 'bad', 'drifted']
    """held: it changes nothing, since it has not joined or the store was restored. waiting: for its stage, or for what `reason` says. checked: HAProxy accepts the text. baking: it has applied the text, and watches it. good: it runs the release. refused, bad: it has refused the text, or rolled it back. drifted: it was edited by hand."""
    reason: StrictStr | None = None
    """Why."""
    bundle: StrictStr | None = None
    """SHA-256 of its text without header."""
    present: StrictBool | None = None
    """Whether it was there in the last 15 seconds."""
