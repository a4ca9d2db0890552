# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictFloat, StrictInt, StrictStr


class ReloadEvent(Model):
    """A reload that has ended, of type reload."""

    id: StrictStr
    """Its id."""
    status: Literal['succeeded', 'failed']
    """What came of it."""
    seconds: StrictFloat
    """How long it took."""
    keywords: list[StrictStr] | None = None
    """Of the lines that made it necessary."""
    version: StrictInt | None = None
    """The version that was loaded."""
    response: StrictStr | None = None
    """What HAProxy said."""
