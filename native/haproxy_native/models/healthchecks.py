# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import healthcheck


class Healthchecks(RootModel[list[healthcheck.Healthcheck]]):
    """All such sections."""

    root: list[healthcheck.Healthcheck]
