# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class MemInfo(Model):
    dataplaneapi_memory: StrictInt | None = None
    free_memory: StrictInt | None = None
    total_memory: StrictInt | None = None
