# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acl


class Acls(RootModel[list[acl.Acl]]):
    """All of one section, in order."""

    root: list[acl.Acl]
