# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import group


class Groups(RootModel[list[group.Group]]):
    root: list[group.Group]
