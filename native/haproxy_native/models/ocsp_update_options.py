# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt

from . import httpproxy as httpproxy_1


class OcspUpdateOptions(Model):
    """Updates of OCSP responses (HAProxy Configuration Manual, section 3.1)."""

    disable: StrictBool | None = None
    """Whether nothing is updated."""
    httpproxy: httpproxy_1.Httpproxy | None = None
    """HTTP proxy through which responders are asked."""
    maxdelay: StrictInt | None = None
    """Seconds between two updates at most."""
    mindelay: StrictInt | None = None
    """Seconds between two updates at least."""
    mode: Literal['enabled', 'disabled'] | None = None
    """Whether certificates that do not say it are updated."""
