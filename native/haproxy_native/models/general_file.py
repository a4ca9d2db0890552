# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class GeneralFile(Model):
    """A file for general use."""

    description: StrictStr | None = None
    """What is known about it."""
    file: StrictStr | None = None
    """Path of the file."""
    id: StrictStr | None = None
    """Its number in HAProxy."""
    size: StrictInt | None = None
    """Bytes."""
    storage_name: StrictStr | None = None
    """Name of the file in its directory."""
