# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class Map(Model):
    description: StrictStr | None = None
    file: StrictStr | None = None
    id: StrictStr | None = None
    size: StrictInt | None = None
    storage_name: StrictStr | None = None
