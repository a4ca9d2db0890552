# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr

from . import revoked_certificate


class SslCrlEntry(Model):
    """One list of revoked certificates."""

    issuer: StrictStr | None = None
    """Who issued the list."""
    last_update: date | None = None
    """When it was issued."""
    next_update: date | None = None
    """When the next one is due."""
    revoked_certificates: list[revoked_certificate.RevokedCertificate] | None = None
    """The certificates that are no longer good."""
    signature_algorithm: StrictStr | None = None
    """How the list is signed."""
    status: StrictStr | None = None
    """Whether HAProxy uses it: Used or Unused."""
    storage_name: StrictStr | None = None
    """The name of its file in HAProxy."""
    version: StrictStr | None = None
    """Version of the format."""
