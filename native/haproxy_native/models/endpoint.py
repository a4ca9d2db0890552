# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class Endpoint(Model):
    description: StrictStr | None = None
    title: StrictStr | None = None
    url: StrictStr | None = None
