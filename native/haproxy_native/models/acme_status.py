# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acme_certificate_status


class AcmeStatus(RootModel[list[acme_certificate_status.AcmeCertificateStatus]]):
    root: list[acme_certificate_status.AcmeCertificateStatus]
