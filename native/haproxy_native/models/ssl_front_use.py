# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class SslFrontUse(Model):
    allow_0rtt: StrictBool | None = None
    alpn: StrictStr | None = None
    ca_file: StrictStr | None = None
    certificate: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    ciphers: StrictStr | None = None
    ciphersuites: StrictStr | None = None
    client_sigalgs: StrictStr | None = None
    crl_file: StrictStr | None = None
    curves: StrictStr | None = None
    ecdhe: StrictStr | None = None
    issuer: StrictStr | None = None
    key: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    no_alpn: StrictBool | None = None
    no_ca_names: StrictBool | None = None
    npn: StrictStr | None = None
    ocsp: StrictStr | None = None
    ocsp_update: Literal['enabled', 'disabled'] | None = None
    sctl: StrictStr | None = None
    sigalgs: StrictStr | None = None
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    verify: Literal['none', 'optional', 'required'] | None = None
