# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import certificate_id as certificate_id_1


class SslCertificateId(Model):
    certificate_id: certificate_id_1.CertificateId | None = None
    certificate_id_key: StrictStr | None = None
    certificate_path: StrictStr | None = None
