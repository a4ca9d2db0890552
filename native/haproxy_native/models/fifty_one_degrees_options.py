# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class FiftyOneDegreesOptions(Model):
    """Device detection by 51Degrees (HAProxy Configuration Manual, section 3.1)."""

    cache_size: StrictInt | None = None
    """Entries of its cache, 0 for none."""
    data_file: StrictStr | None = None
    """File with its data."""
    property_name_list: StrictStr | None = None
    """Properties asked for."""
    property_separator: StrictStr | None = None
    """Sign between properties."""
