# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import server


class Servers(RootModel[list[server.Server]]):
    root: list[server.Server]
