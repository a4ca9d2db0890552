# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import userlist


class Userlists(RootModel[list[userlist.Userlist]]):
    root: list[userlist.Userlist]
