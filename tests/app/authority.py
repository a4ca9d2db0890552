"""Certificates made for a test: an authority, and what it issues to servers and clients."""

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
_USES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "encipher_only",
    "decipher_only",
)
SIGNS = x509.KeyUsage(key_cert_sign=True, crl_sign=True, **dict.fromkeys(_USES, False))


class Authority:
    """`issue` writes `<name>.pem` and `<name>.key`; `file` holds the authority itself."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self._certificate = self._signed(self._name, self._key, [(x509.BasicConstraints(True, None), True), (SIGNS, True)])
        self.file = directory / f"{name}.pem"
        self.file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, *, common: str = "", uri: str = "", others: Sequence[x509.GeneralName] = (), expired: bool = False
    ) -> tuple[Path, Path]:
        """(certificate, key). With a URI there is no subject at all, as in a SPIFFE identity; else it is good for 127.0.0.1.

        `others` are further alternative names. An expired one ended half a day ago.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = (
            [x509.UniformResourceIdentifier(uri)] if uri else [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
        )
        subject = x509.Name([]) if uri else _named(common or name)
        certificate = self._signed(
            subject, key, [(x509.SubjectAlternativeName([*names, *others]), bool(uri))], -DAY / 2 if expired else DAY
        )
        files = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        files[1].write_bytes(key.private_bytes(*plain))
        return files

    def revoke(self, *certificates: Path, expired: bool = False) -> bytes:
        """A list of what it has revoked, PEM."""
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateRevocationListBuilder(self._name, now - DAY, now - DAY / 2 if expired else now + DAY)
        for each in certificates:
            serial = x509.load_pem_x509_certificate(each.read_bytes()).serial_number
            builder = builder.add_revoked_certificate(x509.RevokedCertificateBuilder(serial, now - DAY).build())
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: list[tuple[x509.ExtensionType, bool]],
        left: datetime.timedelta = DAY,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number(), now - DAY, now + left)
        # Python 3.13 and later ask for both, as RFC 5280 does.
        own, signer = x509.SubjectKeyIdentifier.from_public_key, x509.AuthorityKeyIdentifier.from_issuer_public_key
        for extension, critical in [*extensions, (own(key.public_key()), False), (signer(self._key.public_key()), False)]:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
