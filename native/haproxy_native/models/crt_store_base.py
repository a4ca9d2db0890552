# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class CrtStoreBase(Model):
    """Certificates loaded by name, one crt-store section (HAProxy Configuration Manual, crt-store)."""

    crt_base: StrictStr | None = None
    """Directory of certificates."""
    key_base: StrictStr | None = None
    """Directory of keys."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_]+$')]
    """Name of the store."""
