# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr

from . import certificate_id as certificate_id_1


class Responses(Model):
    cert_status: StrictStr | None = None
    certificate_id: certificate_id_1.CertificateId | None = None
    next_update: date | None = None
    revocation_reason: StrictStr | None = None
    this_update: date | None = None
