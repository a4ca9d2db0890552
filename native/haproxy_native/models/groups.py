# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import group


class Groups(RootModel[list[group.Group]]):
    """All of one section, in order."""

    root: list[group.Group]
