# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import defaults


class DefaultsSections(RootModel[list[defaults.Defaults]]):
    root: list[defaults.Defaults]
