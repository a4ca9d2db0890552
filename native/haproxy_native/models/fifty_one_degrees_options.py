# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class FiftyOneDegreesOptions(Model):
    cache_size: StrictInt | None = None
    data_file: StrictStr | None = None
    property_name_list: StrictStr | None = None
    property_separator: StrictStr | None = None
