# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class DeviceAtlasOptions(Model):
    json_file: StrictStr | None = None
    log_level: StrictStr | None = None
    properties_cookie: StrictStr | None = None
    separator: StrictStr | None = None
