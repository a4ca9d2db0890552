# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictStr


class RevokedCertificate(Model):
    revocation_date: date | None = None
    serial_number: StrictStr | None = None
