# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import ring


class Rings(RootModel[list[ring.Ring]]):
    root: list[ring.Ring]
