# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class CertificateId(Model):
    hash_algorithm: StrictStr | None = None
    issuer_key_hash: StrictStr | None = None
    issuer_name_hash: StrictStr | None = None
    serial_number: StrictStr | None = None
