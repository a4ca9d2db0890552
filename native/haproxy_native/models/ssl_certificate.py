# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class SslCertificate(Model):
    """A certificate, in the memory of HAProxy or in a stored file."""

    algorithm: StrictStr | None = None
    """Kind and size of the key, such as RSA2048 or EC256."""
    authority_key_id: StrictStr | None = None
    """Key identifier of the issuer, in hexadecimal with colons."""
    chain_issuer: StrictStr | None = None
    """Issuer of the next certificate of the chain; in the runtime of the last one."""
    chain_subject: StrictStr | None = None
    """Subject of the next certificate of the chain; in the runtime of the last one."""
    description: StrictStr | None = None
    """What kind of file it is; in the runtime the last part of the name."""
    domains: StrictStr | None = None
    """Names that the certificates of the file are made for, sorted and separated by a comma and a blank."""
    file: StrictStr | None = None
    """Path of the stored file."""
    ip_addresses: StrictStr | None = None
    """Addresses that the certificates of the file are made for, sorted and separated by a comma and a blank."""
    issuers: StrictStr | None = None
    """Common names of the issuers, sorted and separated by a comma and a blank; in the runtime the issuer as HAProxy prints it."""
    not_after: AwareDatetime | None = None
    """When the first of the certificates expires."""
    not_before: AwareDatetime | None = None
    """When the last of the certificates becomes valid."""
    serial: StrictStr | None = None
    """Serial number; decimal for a stored file, hexadecimal in the runtime."""
    sha1_finger_print: StrictStr | None = None
    """SHA-1 of the certificate in hexadecimal."""
    sha256_finger_print: StrictStr | None = None
    """SHA-256 of the certificate in hexadecimal."""
    size: StrictInt | None = None
    """Size of the stored file in bytes."""
    status: StrictStr | None = None
    """Whether HAProxy uses it: Used, Unused or Empty."""
    storage_name: StrictStr | None = None
    """Name of the stored file; in the runtime its name in HAProxy."""
    subject: StrictStr | None = None
    """Common name of the subject; in the runtime the subject as HAProxy prints it."""
    subject_alternative_names: StrictStr | None = None
    """Further names of the subject, separated by a comma and a blank."""
    subject_key_id: StrictStr | None = None
    """Key identifier of the subject, in hexadecimal with colons."""
