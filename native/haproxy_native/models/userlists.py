# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import userlist


class Userlists(RootModel[list[userlist.Userlist]]):
    """All such sections."""

    root: list[userlist.Userlist]
