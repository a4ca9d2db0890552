# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class OpenTransaction(Model):
    """A transaction, and what it changes."""

    id: StrictStr
    """Its id."""
    status: Literal['in_progress', 'outdated', 'failed']
    """What it is."""
    version: StrictInt | None = None
    """The version that it started from."""
    author: StrictStr | None = None
    """Who has started it; absent where that is not known."""
    started: AwareDatetime | None = None
    """When."""
    used: AwareDatetime | None = None
    """When it was last edited or read."""
    objects: list[StrictStr] | None = None
    """What it changes; absent where it is not known what it started from."""
