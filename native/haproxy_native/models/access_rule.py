# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class AccessRule(Model):
    """What is allowed with some objects."""

    objects: StrictStr
    """Pattern of their names; what stands in them is meant, too."""
    may: list[Literal['read', 'create', 'change', 'delete', 'secrets']]
    """What may be done."""
    fields: list[StrictStr] | None = None
    """Members that it is limited to."""
    reload: Literal['any', 'never']
    """Whether a change may reload HAProxy."""
    max_objects: StrictInt | None = None
    """How many objects one change may touch by this rule."""
