# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool


class UseSmallBuffers(Model):
    """Where small buffers are used (HAProxy Configuration Manual, section 4.2 \"option use-small-buffers\")."""

    check: StrictBool | None = None
    """Whether health checks use them."""
    enabled: Literal['enabled', 'disabled']
    """Whether any are used."""
    l7_retries: StrictBool | None = None
    """Whether requests kept for another try use them."""
    queue: StrictBool | None = None
    """Whether queued requests use them."""
