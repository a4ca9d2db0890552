# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import capture


class Captures(RootModel[list[capture.Capture]]):
    """All of one section, in order."""

    root: list[capture.Capture]
