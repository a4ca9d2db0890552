# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import server


class Servers(RootModel[list[server.Server]]):
    """All of one section, in order."""

    root: list[server.Server]
