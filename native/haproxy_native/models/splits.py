# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import split


class Splits(RootModel[list[split.Split]]):
    """All splits."""

    root: list[split.Split]
