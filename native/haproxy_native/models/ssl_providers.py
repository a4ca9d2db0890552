# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslProviders(Model):
    """The providers of the TLS library."""

    providers: list[StrictStr] | None = None
    """Their names."""
