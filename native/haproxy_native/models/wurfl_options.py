# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class WurflOptions(Model):
    """Device detection by WURFL (HAProxy Configuration Manual, section 3.1)."""

    cache_size: StrictInt | None = None
    """Entries of its cache, 0 for none."""
    data_file: StrictStr | None = None
    """File with its data."""
    information_list: StrictStr | None = None
    """Capabilities asked for."""
    information_list_separator: StrictStr | None = None
    """Sign between capabilities."""
    patch_file: StrictStr | None = None
    """File with changes to its data."""
