# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class DebugOptions(Model):
    """Debugging (HAProxy Configuration Manual, section 3.3)."""

    anonkey: Annotated[StrictInt | None, Field(ge=0, le=4294967295)] = None
    """Key by which names are hidden in dumps, 0 for none."""
    quiet: StrictBool | None = None
    """Whether the start says nothing."""
    stress_level: Annotated[StrictInt | None, Field(ge=0, le=9)] = None
    """How hard rare paths are provoked, for tests."""
    zero_warning: StrictBool | None = None
    """Whether a configuration with warnings is refused."""
