# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class DeviceAtlasOptions(Model):
    """Device detection by DeviceAtlas (HAProxy Configuration Manual, section 3.1)."""

    json_file: StrictStr | None = None
    """File with its data."""
    log_level: StrictStr | None = None
    """How much it logs, from 0 to 3."""
    properties_cookie: StrictStr | None = None
    """Cookie of its client component."""
    separator: StrictStr | None = None
    """Sign between properties."""
