# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import field


class StickTable(Model):
    """A stick table of the running HAProxy (HAProxy Management Guide, 9.3 show table)."""

    fields: list[field.Field] | None = None
    """What it stores, as far as the configuration tells."""
    name: StrictStr | None = None
    """Its name."""
    size: StrictInt | None = None
    """Entries that it holds at most."""
    type: Literal['ip', 'ipv6', 'integer', 'string', 'binary'] | None = None
    """What its keys are."""
    used: StrictInt | None = None
    """Entries that it holds."""
