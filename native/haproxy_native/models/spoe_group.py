# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SpoeGroup(Model):
    """Messages that rules send together, one spoe-group section of a SPOE file (SPOE.txt, section 2.4)."""

    messages: StrictStr | None = None
    """Names of messages, with blanks."""
    name: StrictStr
    """Name of the group."""
