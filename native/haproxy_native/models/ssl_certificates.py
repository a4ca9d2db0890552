# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ssl_certificate


class SslCertificates(RootModel[list[ssl_certificate.SslCertificate]]):
    """All certificates, in order."""

    root: list[ssl_certificate.SslCertificate]
