# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class CrtLoad(Model):
    """A certificate and what belongs to it, one load line."""

    acme: StrictStr | None = None
    """Name of the acme section that renews it."""
    alias: StrictStr | None = None
    """Name by which it is referred to."""
    certificate: StrictStr
    """File with the certificate."""
    domains: list[StrictStr] | None = None
    """Names the certificate is ordered for."""
    issuer: StrictStr | None = None
    """File with the certificate of the issuer."""
    key: StrictStr | None = None
    """File with the key."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    ocsp: StrictStr | None = None
    """File with the OCSP response."""
    ocsp_update: Literal['enabled', 'disabled'] | None = None
    """Whether the OCSP response is updated."""
    sctl: StrictStr | None = None
    """File with signed certificate timestamps."""
