# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import tcp_check


class TcpChecks(RootModel[list[tcp_check.TcpCheck]]):
    """All of one section, in order."""

    root: list[tcp_check.TcpCheck]
