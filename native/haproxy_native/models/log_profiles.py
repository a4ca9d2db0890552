# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import log_profile


class LogProfiles(RootModel[list[log_profile.LogProfile]]):
    """All such sections."""

    root: list[log_profile.LogProfile]
