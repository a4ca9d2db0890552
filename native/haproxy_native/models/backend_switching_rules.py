# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import backend_switching_rule


class BackendSwitchingRules(
    RootModel[list[backend_switching_rule.BackendSwitchingRule]]
):
    root: list[backend_switching_rule.BackendSwitchingRule]
