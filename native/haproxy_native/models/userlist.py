# Generated from openapi/ by `make generate`; do not edit.

from . import group, user
from .userlist_base import UserlistBase


class Userlist(UserlistBase):
    groups: dict[str, group.Group] | None = None
    users: dict[str, user.User] | None = None
