# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel, StrictStr


class SpoeFiles(RootModel[list[StrictStr]]):
    """Paths of the SPOE files."""

    root: list[StrictStr]
