# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import reload


class Reloads(RootModel[list[reload.Reload]]):
    root: list[reload.Reload]
