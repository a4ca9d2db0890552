"""Parse certificate files as HAProxy does: a PEM text with certificates and the private key of the first certificate.

Errors never quote the file, so that no private key gets into a response or a log line.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from haproxy_native.errors import BadRequest

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, Name

# The lines around a PEM block. OpenSSL ignores indented ones.
_MARK = re.compile(rb"^-----(BEGIN|END) ([A-Z0-9 ]+)-----", re.MULTILINE)
_CERTIFICATES = (b"CERTIFICATE", b"X509 CERTIFICATE")
_KEYS = (b"PRIVATE KEY", b"RSA PRIVATE KEY", b"EC PRIVATE KEY", b"DSA PRIVATE KEY", b"ENCRYPTED PRIVATE KEY")
_REVOCATIONS = b"X509 CRL"
_UNREADABLE = "failed to parse certificate"
_INCOMPLETE = "file should contain both certificate and private key"


@dataclass(frozen=True)
class CertificateFile:
    """The certificates of a file, in order. HAProxy serves the first certificate, and sends the others as its chain."""

    certificates: Sequence["Certificate"]

    @property
    def served(self) -> "Certificate":
        return self.certificates[0]

    @cached_property
    def leaf(self) -> "Certificate | None":
        """Return the certificate whose subject and serial number the API shows, as the Data Plane API does; None if there is none.

        Of several certificates, this is the first one that has a name, is no CA, and has not issued any of the others.
        """
        if len(self.certificates) == 1:
            return self.certificates[0]
        issuers = {certificate.issuer for certificate in self.certificates}
        named = (end for end in self._end_entities if _common_names(end.subject) or _names(end, "DNSName") or _names(end, "IPAddress"))
        return next((end for end in named if end.subject not in issuers), None)

    @property
    def expires(self) -> datetime:
        return min(certificate.not_valid_after_utc for certificate in self.certificates)

    @property
    def _end_entities(self) -> list["Certificate"]:
        """The certificates that are no CA."""
        return [each for each in self.certificates if not getattr(_extension(each, "BasicConstraints"), "ca", False)]

    @property
    def warning(self) -> str:
        """A warning for clients that the served certificate has expired; empty if it has not."""
        if self.served.not_valid_after_utc >= datetime.now(UTC):
            return ""
        return f"the certificate ({_title(self.served)}) expired on {_time(self.served.not_valid_after_utc)}"

    def described(self) -> dict[str, Any]:
        """Return the fields of the API's ssl_certificate that depend on the file's content. Lists are sorted, times are UTC."""
        members: dict[str, Any] = {
            "not_after": _time(self.expires),
            "not_before": _time(max(certificate.not_valid_before_utc for certificate in self.certificates)),
            "issuers": _joined(name for certificate in self.certificates for name in _common_names(certificate.issuer)),
            "domains": _joined(name for end in self._end_entities for name in (*_common_names(end.subject), *_names(end, "DNSName"))),
            "ip_addresses": _joined(name for end in self._end_entities for name in _names(end, "IPAddress")),
        }
        if self.leaf is not None:
            members |= {"subject": ", ".join(_common_names(self.leaf.subject)[:1]), "serial": str(self.leaf.serial_number)}
        return {name: value for name, value in members.items() if value}

    def is_shown(self, shown: Mapping[str, Any]) -> bool:
        """Return whether HAProxy has loaded the served certificate of this file. `shown`: the parsed answer to `show ssl cert`."""
        # For Ed25519 keys HAProxy prints no fingerprint.
        if fingerprint := shown.get("sha1_finger_print"):
            return bool(fingerprint == self.fingerprint)
        return (shown.get("serial"), shown.get("not_before"), shown.get("not_after")) == self.identities()[0]

    def identities(self) -> list[tuple[str, str, str]]:
        """Return (serial number, notBefore, notAfter) of each certificate, as HAProxy prints them."""
        certificates = self.certificates
        return [(_hex(each.serial_number), _time(each.not_valid_before_utc), _time(each.not_valid_after_utc)) for each in certificates]

    @property
    def fingerprint(self) -> str:
        """The SHA-1 fingerprint of the served certificate, as HAProxy prints it."""
        from cryptography.hazmat.primitives.hashes import SHA1

        return self.served.fingerprint(SHA1()).hex().upper()


def parse_certificates(data: bytes) -> CertificateFile:
    """Parse the certificates of a PEM text, and ignore anything else in it. Raises BadRequest if there is no intact certificate."""
    from cryptography import x509

    try:
        certificates = tuple(x509.load_pem_x509_certificate(text) for kind, text in _blocks(data) if kind in _CERTIFICATES)
    except ValueError as error:
        raise BadRequest(f"{_UNREADABLE}: a CERTIFICATE block is damaged") from error
    if not certificates:
        raise BadRequest(f"{_UNREADABLE}: no CERTIFICATE block found")
    return CertificateFile(certificates)


def parse_revocations(data: bytes) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return (last update, next update, revoked serial numbers) of each revocation list in a PEM text, as HAProxy prints them.

    Raises BadRequest.
    """
    from cryptography import x509

    try:
        lists = [x509.load_pem_x509_crl(text) for kind, text in _blocks(data) if kind == _REVOCATIONS]
    except ValueError as error:
        raise BadRequest("an X509 CRL block is damaged") from error
    if not lists:
        raise BadRequest("no X509 CRL block found")
    rows = []
    for revocations in lists:
        following = revocations.next_update_utc
        serials = tuple(sorted(_hex(revoked.serial_number) for revoked in revocations))
        rows.append((_time(revocations.last_update_utc), _time(following) if following else "", serials))
    return rows


def parse_loadable(data: bytes, key_file: bytes | None = None) -> CertificateFile:
    """Parse a certificate file. Raises BadRequest with the reason if HAProxy would not load the file.

    `key_file`: the content of the `.key` file, which has the private key if the certificate file has none. Expired certificates are
    accepted, because HAProxy loads them.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    file = parse_certificates(data)
    key = next((text for kind, text in _blocks(data) if kind in _KEYS), key_file)
    if key is None:
        raise BadRequest(_INCOMPLETE)
    try:
        private = load_pem_private_key(key, None)
    except TypeError:
        raise BadRequest("the private key is encrypted, and HAProxy has no passphrase for it; store it without one") from None
    except (ValueError, UnsupportedAlgorithm):
        # `from None`: the cause may quote the key.
        raise BadRequest("the private key is damaged, or of a kind that is not known") from None
    if _public_key(private) != _public_key(file.served):
        raise BadRequest(f"the private key does not belong to the first certificate of the file ({_title(file.served)})")
    return file


def holds_certificate(data: bytes, key_file: bytes | None = None) -> bool:
    """Return whether a file has a certificate and a private key. Lists and CA files do not. `key_file`: as in `parse_loadable`."""
    try:
        parse_certificates(data)
    except BadRequest:
        return False
    return holds_key(data) or key_file is not None


def split_key(data: bytes) -> tuple[bytes, bytes]:
    """Return (all PEM blocks that are no keys, all PEM blocks that are keys) of a file."""
    blocks = list(_blocks(data))
    rest = b"".join(text + b"\n" for kind, text in blocks if kind not in _KEYS)
    return rest, b"".join(text + b"\n" for kind, text in blocks if kind in _KEYS)


def holds_key(data: bytes) -> bool:
    return any(kind in _KEYS for kind, _ in _blocks(data))


def _blocks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (label, text) of each PEM block. A BEGIN line without its END line is skipped."""
    begins, ends = list[re.Match[bytes]](), dict[bytes, list[int]]()
    for mark in _MARK.finditer(data):
        if mark[1] == b"BEGIN":
            begins.append(mark)
        else:
            ends.setdefault(mark[2], []).append(mark.end())
    at = 0
    for begin in begins:
        its_ends = ends.get(begin[2], ())
        following = bisect_right(its_ends, begin.end())
        if begin.start() >= at and following < len(its_ends):
            at = its_ends[following]
            yield begin[2], data[begin.start() : at]


def _public_key(holder: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    encoded: bytes = holder.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return encoded


def _extension(certificate: "Certificate", name: str) -> Any:
    from cryptography import x509

    try:
        return certificate.extensions.get_extension_for_class(getattr(x509, name)).value
    except (x509.ExtensionNotFound, ValueError):
        return None


def _names(certificate: "Certificate", kind: str) -> list[str]:
    from cryptography import x509

    extension = _extension(certificate, "SubjectAlternativeName")
    return [str(name) for name in extension.get_values_for_type(getattr(x509, kind))] if extension else []


def _common_names(name: "Name") -> list[str]:
    from cryptography.x509.oid import NameOID

    return [str(attribute.value) for attribute in name.get_attributes_for_oid(NameOID.COMMON_NAME)]


def _joined(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def _title(certificate: "Certificate") -> str:
    return ", ".join(_common_names(certificate.subject)) or f"serial {certificate.serial_number}"


def _hex(serial: int) -> str:
    return serial.to_bytes((serial.bit_length() + 7) // 8 or 1, "big").hex().upper()


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
