# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import server_switching_rule


class ServerSwitchingRules(RootModel[list[server_switching_rule.ServerSwitchingRule]]):
    """All of one section, in order."""

    root: list[server_switching_rule.ServerSwitchingRule]
