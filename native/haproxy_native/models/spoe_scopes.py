# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_scope


class SpoeScopes(RootModel[list[spoe_scope.SpoeScope]]):
    """All scopes of one file, in order."""

    root: list[spoe_scope.SpoeScope]
