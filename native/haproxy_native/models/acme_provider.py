# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class AcmeProvider(Model):
    """An authority that issues certificates, one acme section (HAProxy Configuration Manual, ACME)."""

    account_key: StrictStr | None = None
    """File with the key of the account."""
    acme_provider: StrictStr | None = None
    """Name of the DNS provider, for those that solve challenges."""
    acme_vars: dict[str, StrictStr] | None = None
    """Variables for those that solve challenges."""
    bits: StrictInt | None = None
    """Bits of an RSA key."""
    challenge: Literal['http-01', 'dns-01', 'dns-persist-01'] | None = None
    """How names are proved."""
    challenge_ready: Annotated[
        list[Literal['cli', 'dns', 'none']] | None, Field(max_length=2, min_length=1)
    ] = None
    """What is awaited before a challenge is declared ready."""
    contact: StrictStr | None = None
    """Mail address of the account."""
    curves: StrictStr | None = None
    """Elliptic curve of an ECDSA key."""
    directory: Annotated[StrictStr, Field(pattern='^https://[^\\s]+$')]
    """URL of the directory."""
    dns_delay: StrictInt | None = None
    """Time between two looks at the DNS. In milliseconds."""
    dns_timeout: StrictInt | None = None
    """Time after which the DNS is given up. In milliseconds."""
    keytype: Literal['RSA', 'ECDSA'] | None = None
    """Kind of the keys."""
    map: StrictStr | None = None
    """Map with the answers to challenges."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: StrictStr
    """Name of the section."""
    profile: StrictStr | None = None
    """Profile of certificates."""
    reuse_key: Literal['enabled', 'disabled'] | None = None
    """Whether a renewed certificate keeps its key."""
