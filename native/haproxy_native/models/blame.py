# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import blamed_line


class Blame(RootModel[list[blamed_line.BlamedLine]]):
    """The lines of a section."""

    root: list[blamed_line.BlamedLine]
