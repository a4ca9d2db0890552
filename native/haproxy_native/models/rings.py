# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ring


class Rings(RootModel[list[ring.Ring]]):
    """All such sections."""

    root: list[ring.Ring]
