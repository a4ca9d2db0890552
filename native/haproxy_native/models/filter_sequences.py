# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import filter_sequence


class FilterSequences(RootModel[list[filter_sequence.FilterSequence]]):
    """All of one section, in order."""

    root: list[filter_sequence.FilterSequence]
