# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import trace_entry


class TraceEntries(RootModel[list[trace_entry.TraceEntry]]):
    """All of one section, in order."""

    root: list[trace_entry.TraceEntry]
