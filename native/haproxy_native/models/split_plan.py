# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SplitPlan(Model):
    """What the configuration lacks."""

    lines: list[StrictStr]
    """Lines of a frontend."""
