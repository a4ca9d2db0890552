# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import runtime_server


class RuntimeServers(RootModel[list[runtime_server.RuntimeServer]]):
    """All of a backend."""

    root: list[runtime_server.RuntimeServer]
