# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class AcmeCertificateStatus(Model):
    """How one certificate stands."""

    acme_section: StrictStr | None = None
    """The acme section that it is renewed by."""
    certificate: StrictStr | None = None
    """Its name in HAProxy."""
    error: StrictStr | None = None
    """Why this server did not solve its last challenge; absent if it did."""
    expiries_in: StrictStr | None = None
    """Time until it is no longer valid."""
    expiry_date: AwareDatetime | None = None
    """When it is no longer valid."""
    renewal_in: StrictStr | None = None
    """Time until it is renewed."""
    scheduled_renewal: AwareDatetime | None = None
    """When it is renewed next."""
    state: StrictStr | None = None
    """Whether it is being renewed."""
