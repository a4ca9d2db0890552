# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt


class Redispatch(Model):
    """Whether another server is tried, an option redispatch line (HAProxy Configuration Manual, section 4.2)."""

    enabled: Literal['enabled', 'disabled']
    """Whether requests may leave the server that persistence asks for."""
    interval: StrictInt | None = None
    """Every how many retries; counted from the last one when negative."""
