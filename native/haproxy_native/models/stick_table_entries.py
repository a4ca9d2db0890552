# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import stick_table_entry


class StickTableEntries(RootModel[list[stick_table_entry.StickTableEntry]]):
    """All that were asked for."""

    root: list[stick_table_entry.StickTableEntry]
