# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import stick_table


class StickTables(RootModel[list[stick_table.StickTable]]):
    """All of the running HAProxy."""

    root: list[stick_table.StickTable]
