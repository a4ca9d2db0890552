# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import log_target


class LogTargets(RootModel[list[log_target.LogTarget]]):
    """All of one section, in order."""

    root: list[log_target.LogTarget]
