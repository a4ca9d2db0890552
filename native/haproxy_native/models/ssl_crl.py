# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslCrl(Model):
    """A file of revoked certificates in the memory of HAProxy."""

    description: StrictStr | None = None
    """The last part of its name."""
    file: StrictStr | None = None
    """Path of the file."""
    storage_name: StrictStr | None = None
    """Its name in HAProxy."""
