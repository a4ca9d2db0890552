# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import general_file


class GeneralFiles(RootModel[list[general_file.GeneralFile]]):
    """Files for general use."""

    root: list[general_file.GeneralFile]
