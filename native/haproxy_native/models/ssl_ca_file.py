# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslCaFile(Model):
    """A file of authorities in the memory of HAProxy."""

    count: StrictStr | None = None
    """How many certificates it holds, in HAProxy's words."""
    file: StrictStr | None = None
    """Path of the file."""
    storage_name: StrictStr | None = None
    """Its name in HAProxy."""
