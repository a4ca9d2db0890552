# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import table


class Tables(RootModel[list[table.Table]]):
    """All of one section, in order."""

    root: list[table.Table]
