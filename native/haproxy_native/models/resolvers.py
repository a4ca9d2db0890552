# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import resolver


class Resolvers(RootModel[list[resolver.Resolver]]):
    """All such sections."""

    root: list[resolver.Resolver]
