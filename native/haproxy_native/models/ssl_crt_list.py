# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslCrtList(Model):
    """A certificate list in the memory of HAProxy."""

    file: StrictStr | None = None
    """Its name in HAProxy."""
