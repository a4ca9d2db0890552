# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import tcp_request_rule


class TcpRequestRules(RootModel[list[tcp_request_rule.TcpRequestRule]]):
    """All of one section, in order."""

    root: list[tcp_request_rule.TcpRequestRule]
