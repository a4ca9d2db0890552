# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import backend_switching_rule


class BackendSwitchingRules(
    RootModel[list[backend_switching_rule.BackendSwitchingRule]]
):
    """All of one section, in order."""

    root: list[backend_switching_rule.BackendSwitchingRule]
