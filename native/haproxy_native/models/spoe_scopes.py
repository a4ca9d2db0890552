# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_scope


class SpoeScopes(RootModel[list[spoe_scope.SpoeScope]]):
    root: list[spoe_scope.SpoeScope]
