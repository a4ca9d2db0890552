# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import batch_call


class Batch(RootModel[list[batch_call.BatchCall]]):
    """Calls, in their order."""

    root: list[batch_call.BatchCall]
