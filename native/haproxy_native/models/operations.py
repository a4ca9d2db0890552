# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import operation


class Operations(RootModel[list[operation.Operation]]):
    """Operations, the newest first."""

    root: list[operation.Operation]
