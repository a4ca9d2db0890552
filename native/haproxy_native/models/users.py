# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import user


class Users(RootModel[list[user.User]]):
    """All of one section, in order."""

    root: list[user.User]
