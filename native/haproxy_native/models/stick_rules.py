# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import stick_rule


class StickRules(RootModel[list[stick_rule.StickRule]]):
    """All of one section, in order."""

    root: list[stick_rule.StickRule]
