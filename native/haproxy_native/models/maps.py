# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import map


class Maps(RootModel[list[map.Map]]):
    """The maps there are."""

    root: list[map.Map]
