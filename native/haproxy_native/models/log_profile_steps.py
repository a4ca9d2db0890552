# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import log_profile_step


class LogProfileSteps(RootModel[list[log_profile_step.LogProfileStep]]):
    """All of one section, in order."""

    root: list[log_profile_step.LogProfileStep]
