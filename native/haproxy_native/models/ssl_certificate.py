# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class SslCertificate(Model):
    algorithm: StrictStr | None = None
    authority_key_id: StrictStr | None = None
    chain_issuer: StrictStr | None = None
    chain_subject: StrictStr | None = None
    description: StrictStr | None = None
    domains: StrictStr | None = None
    file: StrictStr | None = None
    ip_addresses: StrictStr | None = None
    issuers: StrictStr | None = None
    not_after: AwareDatetime | None = None
    not_before: AwareDatetime | None = None
    serial: StrictStr | None = None
    sha1_finger_print: StrictStr | None = None
    sha256_finger_print: StrictStr | None = None
    size: StrictInt | None = None
    status: StrictStr | None = None
    storage_name: StrictStr | None = None
    subject: StrictStr | None = None
    subject_alternative_names: StrictStr | None = None
    subject_key_id: StrictStr | None = None
