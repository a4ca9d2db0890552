# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneSslOptions(Model):
    """Tuning of TLS (HAProxy Configuration Manual, section 3.2)."""

    cachesize: StrictInt | None = None
    """Entries of the session cache, 0 for none."""
    capture_buffer_size: StrictInt | None = None
    """Bytes of a captured client hello at most."""
    certificate_compression: Literal['auto', 'disabled'] | None = None
    """Whether certificates are compressed."""
    ctx_cache_size: StrictInt | None = None
    """Generated certificates kept at a time."""
    default_dh_param: StrictInt | None = None
    """Bits of Diffie-Hellman keys at most."""
    force_private_cache: StrictBool | None = None
    """Whether processes do not share the session cache."""
    hard_maxrecord: StrictInt | None = None
    """Bytes of a record at most, also where much data flows."""
    keylog: Literal['enabled', 'disabled'] | None = None
    """Whether the secrets of sessions can be fetched for decryption."""
    lifetime: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a session can be resumed. In milliseconds."""
    maxrecord: StrictInt | None = None
    """Bytes of a record at most, 0 for any number."""
    ocsp_update_max_delay: StrictInt | None = None
    """Seconds between updates of OCSP responses at most."""
    ocsp_update_min_delay: StrictInt | None = None
    """Seconds between updates of OCSP responses at least."""
