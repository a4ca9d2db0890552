# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslCaFile(Model):
    count: StrictStr | None = None
    file: StrictStr | None = None
    storage_name: StrictStr | None = None
