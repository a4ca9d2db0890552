# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import nameserver


class Nameservers(RootModel[list[nameserver.Nameserver]]):
    """All of one section, in order."""

    root: list[nameserver.Nameserver]
