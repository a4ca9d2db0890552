# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Cache(Model):
    """A cache of responses, one cache section (HAProxy Configuration Manual, section 6.2)."""

    max_age: StrictInt | None = None
    """Seconds a response is kept at most."""
    max_object_size: StrictInt | None = None
    """Bytes of a response at most."""
    max_secondary_entries: StrictInt | None = None
    """Variants of a response at most."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the cache."""
    process_vary: StrictBool | None = None
    """Whether responses with a Vary header are kept."""
    total_max_size: Annotated[StrictInt | None, Field(ge=1, le=4095)] = None
    """Size of the cache in MiB."""
