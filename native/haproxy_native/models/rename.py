# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class Rename(Model):
    """An object and its new name."""

    object: StrictStr
    """Name of the object."""
    to: StrictStr
    """The new name alone, without kind and section."""
