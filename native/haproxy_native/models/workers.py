# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import worker


class Workers(RootModel[list[worker.Worker]]):
    """The worker in service first."""

    root: list[worker.Worker]
