# Generated from openapi/ by `make generate`; do not edit.

from . import group, user
from .userlist_base import UserlistBase


class Userlist(UserlistBase):
    """A userlist section with its users and groups."""

    groups: dict[str, group.Group] | None = None
    """Groups by name."""
    users: dict[str, user.User] | None = None
    """Users by name."""
