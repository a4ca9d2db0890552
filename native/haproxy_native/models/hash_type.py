# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model


class HashType(Model):
    function: Literal['sdbm', 'djb2', 'wt6', 'crc32', 'none'] | None = None
    method: Literal['map-based', 'consistent'] | None = None
    modifier: Literal['avalanche'] | None = None
