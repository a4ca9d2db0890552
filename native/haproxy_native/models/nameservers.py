# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import nameserver


class Nameservers(RootModel[list[nameserver.Nameserver]]):
    root: list[nameserver.Nameserver]
