"""The TLS side of a listener. Its files are looked at with each connection: when certificate, key or client CA have changed, the next
handshake is made with the new ones; connections that are open stay as they are. So are lists of revoked client certificates.
"""

import logging
import ssl

from dataplaneapi.settings.table import SettingsError
from haproxy_native.disk.stamp import Stamp, stamp

logger = logging.getLogger(__name__)
# For TLS 1.2: forward secrecy and authenticated encryption only. OpenSSL chooses those of TLS 1.3.
CIPHERS = (
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)
CURVE = "prime256v1"


class Identity:
    """Certificate, key, client CA and CRLs of a listener, as they are in their files. Raises SettingsError when they cannot be used."""

    def __init__(self, certificate: str, key: str, authority: str = "", revoked: str = "") -> None:
        self._files = (certificate, key, authority, revoked)
        self._seen = self._stamps()
        try:
            self._context = _context(*self._files)
        except (OSError, ValueError) as error:
            raise SettingsError(f"TLS cannot be served: {_reason(self._files, error)}") from None

    def context(self) -> ssl.SSLContext:
        """Returns the context for the next connection; unusable files, as during a rotation, are logged and the former context stays."""
        if (stamps := self._stamps()) != self._seen:
            self._seen = stamps
            try:
                self._context = _context(*self._files)
            except (OSError, ValueError) as error:
                logger.error("the former certificate stays in use: %s", _reason(self._files, error))
            else:
                logger.info("certificate, key, client CA and CRLs of the listener were read again: %s", self._files[0])
        return self._context

    def _stamps(self) -> list[Stamp | None]:
        return [stamp(file) for file in self._files]


def _context(certificate: str, key: str, authority: str, revoked: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.set_ecdh_curve(CURVE)
    context.set_alpn_protocols(["http/1.1"])
    # An encrypted key must not make OpenSSL ask on the terminal.
    context.load_cert_chain(certificate, key, password=lambda: b"")
    if authority:
        context.load_verify_locations(authority)
        context.verify_mode = ssl.CERT_REQUIRED
    if revoked:
        context.load_verify_locations(revoked)
    lists = context.cert_store_stats()["crl"]
    if revoked and not lists:
        raise ValueError(f"{revoked} holds no CRL")
    if lists:
        # As HAProxy's crl-file: each authority of the chain needs a list that has not expired. The file of authorities may hold it.
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_CHAIN
    return context


def _reason(files: tuple[str, str, str, str], error: Exception) -> str:
    """OpenSSL does not tell which file it means."""
    for file in filter(None, files):
        try:
            with open(file, "rb"):
                pass
        except OSError as unreadable:
            return f"{file}: {unreadable.strerror}"
    return f"{', '.join(filter(None, files))}: {error}"
