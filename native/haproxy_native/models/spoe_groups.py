# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_group


class SpoeGroups(RootModel[list[spoe_group.SpoeGroup]]):
    """All groups of one scope."""

    root: list[spoe_group.SpoeGroup]
