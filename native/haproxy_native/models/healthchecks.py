# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import healthcheck


class Healthchecks(RootModel[list[healthcheck.Healthcheck]]):
    root: list[healthcheck.Healthcheck]
