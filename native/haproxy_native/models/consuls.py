# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import consul


class Consuls(RootModel[list[consul.Consul]]):
    root: list[consul.Consul]
