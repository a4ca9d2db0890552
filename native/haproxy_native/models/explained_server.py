# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr


class ExplainedServer(Model):
    """A server that could be chosen."""

    name: StrictStr
    """Its name."""
    weight: StrictInt | None = None
    """Its weight."""
    backup: StrictBool | None = None
    """Whether it is a backup; absent where it is none."""
    state: Literal['up', 'down', 'drain', 'maint'] | None = None
    """Its state in the running HAProxy; absent where that is not known."""
