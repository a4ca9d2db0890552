# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import dgram_bind


class DgramBinds(RootModel[list[dgram_bind.DgramBind]]):
    """All of one section, in order."""

    root: list[dgram_bind.DgramBind]
