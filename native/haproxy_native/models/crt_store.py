# Generated from openapi/ by `make generate`; do not edit.

from . import crt_load
from .crt_store_base import CrtStoreBase


class CrtStore(CrtStoreBase):
    """A crt-store section with what it loads."""

    crt_loads: dict[str, crt_load.CrtLoad] | None = None
    """Certificates by name."""
