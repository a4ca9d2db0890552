# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import certificate_id as certificate_id_1


class SslCertificateId(Model):
    """Which certificate an OCSP response is about."""

    certificate_id: certificate_id_1.CertificateId | None = None
    """The parts of the identity."""
    certificate_id_key: StrictStr | None = None
    """The whole identity in hexadecimal."""
    certificate_path: StrictStr | None = None
    """Path of the certificate."""
