# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import filter


class Filters(RootModel[list[filter.Filter]]):
    """All of one section, in order."""

    root: list[filter.Filter]
