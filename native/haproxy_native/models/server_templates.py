# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import server_template


class ServerTemplates(RootModel[list[server_template.ServerTemplate]]):
    """All of one section, in order."""

    root: list[server_template.ServerTemplate]
