# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr

from . import revoked_certificate


class SslCrlEntry(Model):
    issuer: StrictStr | None = None
    last_update: date | None = None
    next_update: date | None = None
    revoked_certificates: list[revoked_certificate.RevokedCertificate] | None = None
    signature_algorithm: StrictStr | None = None
    status: StrictStr | None = None
    storage_name: StrictStr | None = None
    version: StrictStr | None = None
