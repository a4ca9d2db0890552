# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import site


class Sites(RootModel[list[site.Site]]):
    """All sites."""

    root: list[site.Site]
