# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class WurflOptions(Model):
    cache_size: StrictInt | None = None
    data_file: StrictStr | None = None
    information_list: StrictStr | None = None
    information_list_separator: StrictStr | None = None
    patch_file: StrictStr | None = None
