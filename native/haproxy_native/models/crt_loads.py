# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import crt_load


class CrtLoads(RootModel[list[crt_load.CrtLoad]]):
    """All of one section, in order."""

    root: list[crt_load.CrtLoad]
