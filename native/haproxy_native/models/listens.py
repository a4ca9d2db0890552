# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import listen


class Listens(RootModel[list[listen.Listen]]):
    """All listen sections."""

    root: list[listen.Listen]
