# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class SslOcspUpdate(Model):
    """How the automatic renewal of an OCSP response goes."""

    cert_id: StrictStr | None = None
    """Identity of the certificate."""
    failures: StrictInt | None = None
    """Attempts that failed."""
    last_update: StrictStr | None = None
    """When it was last tried."""
    last_update_status: StrictInt | None = None
    """Outcome of the last attempt as a number."""
    last_update_status_str: StrictStr | None = None
    """Outcome of the last attempt."""
    next_update: StrictStr | None = None
    """When it is tried again."""
    path: StrictStr | None = None
    """Path of the certificate."""
    successes: StrictInt | None = None
    """Attempts that succeeded."""
