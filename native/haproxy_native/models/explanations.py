# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import explanation


class Explanations(RootModel[list[explanation.Explanation]]):
    """What becomes of requests."""

    root: list[explanation.Explanation]
