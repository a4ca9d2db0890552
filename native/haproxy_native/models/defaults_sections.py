# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import defaults


class DefaultsSections(RootModel[list[defaults.Defaults]]):
    """All defaults sections."""

    root: list[defaults.Defaults]
