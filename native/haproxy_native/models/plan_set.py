# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class PlanSet(Model):
    configuration: list[StrictStr] | None = None
    maps: list[bytes] | None = None
    acls: list[bytes] | None = None
    general: list[bytes] | None = None
    ssl_certificates: list[bytes] | None = None
    ssl_crt_lists: list[bytes] | None = None
