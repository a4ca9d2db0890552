# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import force_be_switch


class ForceBeSwitches(RootModel[list[force_be_switch.ForceBeSwitch]]):
    """All of one section, in order."""

    root: list[force_be_switch.ForceBeSwitch]
