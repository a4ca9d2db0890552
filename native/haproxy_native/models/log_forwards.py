# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import log_forward


class LogForwards(RootModel[list[log_forward.LogForward]]):
    """All such sections."""

    root: list[log_forward.LogForward]
