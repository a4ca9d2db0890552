# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class AclFile(Model):
    description: StrictStr | None = None
    id: StrictStr | None = None
    storage_name: StrictStr | None = None
