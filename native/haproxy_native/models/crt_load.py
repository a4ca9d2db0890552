# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class CrtLoad(Model):
    acme: StrictStr | None = None
    alias: StrictStr | None = None
    certificate: StrictStr
    domains: list[StrictStr] | None = None
    issuer: StrictStr | None = None
    key: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    ocsp: StrictStr | None = None
    ocsp_update: Literal['enabled', 'disabled'] | None = None
    sctl: StrictStr | None = None
