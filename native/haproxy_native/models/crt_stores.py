# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import crt_store


class CrtStores(RootModel[list[crt_store.CrtStore]]):
    """All such sections."""

    root: list[crt_store.CrtStore]
