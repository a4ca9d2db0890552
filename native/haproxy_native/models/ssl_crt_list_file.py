# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class SslCrtListFile(Model):
    """A stored certificate list."""

    description: StrictStr | None = None
    """What kind of file it is."""
    file: StrictStr | None = None
    """Path of the file."""
    size: StrictInt | None = None
    """Size in bytes."""
    storage_name: StrictStr | None = None
    """Name of the file."""
