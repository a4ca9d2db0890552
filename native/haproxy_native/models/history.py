# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import history_entry


class History(RootModel[list[history_entry.HistoryEntry]]):
    """Changes."""

    root: list[history_entry.HistoryEntry]
