# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class AcmeCertificateStatus(Model):
    acme_section: StrictStr | None = None
    certificate: StrictStr | None = None
    expiries_in: StrictStr | None = None
    expiry_date: AwareDatetime | None = None
    renewal_in: StrictStr | None = None
    scheduled_renewal: AwareDatetime | None = None
    state: StrictStr | None = None
