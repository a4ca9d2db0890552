# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class MapEntry(Model):
    id: StrictStr | None = None
    key: StrictStr | None = None
    value: StrictStr | None = None
