# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class AcmeProvider(Model):
    account_key: StrictStr | None = None
    acme_provider: StrictStr | None = None
    acme_vars: dict[str, StrictStr] | None = None
    bits: StrictInt | None = None
    challenge: Literal['http-01', 'dns-01', 'dns-persist-01'] | None = None
    challenge_ready: Annotated[
        list[Literal['cli', 'dns', 'none']] | None, Field(max_length=2, min_length=1)
    ] = None
    contact: StrictStr | None = None
    curves: StrictStr | None = None
    directory: Annotated[StrictStr, Field(pattern='^https://[^\\s]+$')]
    dns_delay: StrictInt | None = None
    dns_timeout: StrictInt | None = None
    keytype: Literal['RSA', 'ECDSA'] | None = None
    map: StrictStr | None = None
    metadata: dict[str, Any] | None = None
    name: StrictStr
    profile: StrictStr | None = None
    reuse_key: Literal['enabled', 'disabled'] | None = None
