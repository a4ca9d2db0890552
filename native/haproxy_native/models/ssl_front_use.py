# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class SslFrontUse(Model):
    """A certificate of a frontend with its own TLS settings, one ssl-f-use line (HAProxy Configuration Manual, section 4.2)."""

    allow_0rtt: StrictBool | None = None
    """Whether TLS 1.3 early data is taken."""
    alpn: StrictStr | None = None
    """Protocols offered by ALPN, comma-separated."""
    ca_file: StrictStr | None = None
    """File of the authorities that client certificates are verified with."""
    certificate: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """File of the certificate, or its name in a crt-store as @store/name."""
    ciphers: StrictStr | None = None
    """Ciphers up to TLS 1.2, as OpenSSL writes them."""
    ciphersuites: StrictStr | None = None
    """Ciphers of TLS 1.3, as OpenSSL writes them."""
    client_sigalgs: StrictStr | None = None
    """Signature algorithms for client certificates."""
    crl_file: StrictStr | None = None
    """File of revoked certificates."""
    curves: StrictStr | None = None
    """Curves of the key exchange, colon-separated."""
    ecdhe: StrictStr | None = None
    """Curve of the ECDHE key exchange."""
    issuer: StrictStr | None = None
    """File of the issuer, for OCSP."""
    key: StrictStr | None = None
    """File of the private key."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    no_alpn: StrictBool | None = None
    """Whether nothing is offered by ALPN."""
    no_ca_names: StrictBool | None = None
    """Whether the names of the authorities are not sent to clients."""
    npn: StrictStr | None = None
    """Protocols offered by NPN, comma-separated."""
    ocsp: StrictStr | None = None
    """File of the OCSP response."""
    ocsp_update: Literal['enabled', 'disabled'] | None = None
    """Whether the OCSP response is renewed automatically."""
    sctl: StrictStr | None = None
    """File of the signed certificate timestamps."""
    sigalgs: StrictStr | None = None
    """Signature algorithms that are offered."""
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Highest version of TLS."""
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Lowest version of TLS."""
    verify: Literal['none', 'optional', 'required'] | None = None
    """Whether clients have to show a certificate."""
