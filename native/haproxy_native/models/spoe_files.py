# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel, StrictStr


class SpoeFiles(RootModel[list[StrictStr]]):
    root: list[StrictStr]
