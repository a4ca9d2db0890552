# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import cache


class Caches(RootModel[list[cache.Cache]]):
    """All such sections."""

    root: list[cache.Cache]
