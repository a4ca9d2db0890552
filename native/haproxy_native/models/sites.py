# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import site


class Sites(RootModel[list[site.Site]]):
    root: list[site.Site]
