# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import frontend


class Frontends(RootModel[list[frontend.Frontend]]):
    """All frontend sections."""

    root: list[frontend.Frontend]
