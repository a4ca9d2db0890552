# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class TuneZlibOptions(Model):
    """Tuning of zlib (HAProxy Configuration Manual, section 3.2)."""

    memlevel: Annotated[StrictInt | None, Field(ge=1, le=9)] = None
    """Memory per compression, from 1 to 9."""
    windowsize: Annotated[StrictInt | None, Field(ge=8, le=15)] = None
    """Size of the window as a power of two."""
