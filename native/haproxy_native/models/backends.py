# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import backend


class Backends(RootModel[list[backend.Backend]]):
    """All backend sections."""

    root: list[backend.Backend]
