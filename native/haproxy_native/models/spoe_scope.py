# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel, StrictStr


class SpoeScope(RootModel[StrictStr]):
    """Name of a scope, with its square brackets."""

    root: StrictStr
