# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import table


class Tables(RootModel[list[table.Table]]):
    root: list[table.Table]
