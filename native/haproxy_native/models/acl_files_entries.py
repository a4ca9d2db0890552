# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import acl_file_entry


class AclFilesEntries(RootModel[list[acl_file_entry.AclFileEntry]]):
    """All of an ACL."""

    root: list[acl_file_entry.AclFileEntry]
