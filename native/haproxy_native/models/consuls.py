# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import consul


class Consuls(RootModel[list[consul.Consul]]):
    """All Consul agents."""

    root: list[consul.Consul]
