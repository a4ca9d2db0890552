# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import reload


class Reloads(RootModel[list[reload.Reload]]):
    """The failed ones, the last that succeeded and the pending one."""

    root: list[reload.Reload]
