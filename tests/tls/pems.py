"""Create certificates for a test: an authority, its certificates, and its revocation lists, as PEM texts."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

START = datetime(2024, 5, 1, 8, tzinfo=UTC)
LATER = datetime(2044, 5, 1, 8, tzinfo=UTC)
KEYS = {
    "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
    "rsa": lambda: rsa.generate_private_key(65537, 2048),
    "rsa4096": lambda: rsa.generate_private_key(65537, 4096),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "dsa": lambda: dsa.generate_private_key(2048),
}


@dataclass(frozen=True)
class Made:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Any

    @property
    def cert(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def private(self) -> str:
        return self.key_as(PrivateFormat.PKCS8)

    @property
    def pem(self) -> str:
        """Return certificate and key in one text, as HAProxy reads them."""
        return self.cert + self.private

    @property
    def serial(self) -> int:
        return self.certificate.serial_number

    def key_as(self, form: PrivateFormat, password: bytes | None = None) -> str:
        lock = BestAvailableEncryption(password) if password else NoEncryption()
        return str(self.key.private_bytes(Encoding.PEM, form, lock).decode())


def made(
    name: str,
    serial: int = 1,
    *,
    by: Made | None = None,
    names: tuple[str, ...] = (),
    kind: str = "ec",
    ca: bool = False,
    until: datetime = LATER,
) -> Made:
    """Create a certificate, signed by itself or `by` an authority. `names` are further DNS names, or addresses."""
    key = KEYS[kind]()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    others = [_general(each) for each in (names if ca else (name, *names))]
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(serial)
        .not_valid_before(START)
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if others:
        builder = builder.add_extension(x509.SubjectAlternativeName(others), critical=False)
    signer = by.key if by else key
    plain = None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return Made(builder.sign(signer, plain), key)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@cache
def authority(name: str = "Test Root") -> Made:
    return made(name, 10, ca=True)


def revoking(by: Made, *serials: int) -> str:
    """Return a revocation list of an authority with these serial numbers, as PEM."""
    builder = x509.CertificateRevocationListBuilder().issuer_name(by.certificate.subject).last_update(START).next_update(LATER)
    for serial in serials:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(START + timedelta(days=1)).build()
        builder = builder.add_revoked_certificate(entry)
    return builder.sign(by.key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()
