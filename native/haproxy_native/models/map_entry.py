# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class MapEntry(Model):
    """One line of a map."""

    id: StrictStr | None = None
    """Where HAProxy has it in memory."""
    key: StrictStr | None = None
    """What is looked up."""
    value: StrictStr | None = None
    """What is found."""
