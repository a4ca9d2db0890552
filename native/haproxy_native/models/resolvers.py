# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import resolver


class Resolvers(RootModel[list[resolver.Resolver]]):
    root: list[resolver.Resolver]
