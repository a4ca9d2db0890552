# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import map_entry


class MapEntries(RootModel[list[map_entry.MapEntry]]):
    """Entries in the order of the map."""

    root: list[map_entry.MapEntry]
