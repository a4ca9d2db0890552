# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import bind


class Binds(RootModel[list[bind.Bind]]):
    """All of one section, in order."""

    root: list[bind.Bind]
