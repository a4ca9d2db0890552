# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SslProviders(Model):
    providers: list[StrictStr] | None = None
