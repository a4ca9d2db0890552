# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acme_certificate_status


class AcmeStatus(RootModel[list[acme_certificate_status.AcmeCertificateStatus]]):
    """All certificates that HAProxy renews."""

    root: list[acme_certificate_status.AcmeCertificateStatus]
