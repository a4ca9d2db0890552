# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acl_file


class AclFiles(RootModel[list[acl_file.AclFile]]):
    """All of the running HAProxy."""

    root: list[acl_file.AclFile]
