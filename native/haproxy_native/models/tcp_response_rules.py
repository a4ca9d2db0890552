# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import tcp_response_rule


class TcpResponseRules(RootModel[list[tcp_response_rule.TcpResponseRule]]):
    """All of one section, in order."""

    root: list[tcp_response_rule.TcpResponseRule]
