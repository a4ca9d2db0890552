"""Serve sections that exist once and have no name, such as global."""

from dataplaneapi.handlers.configuration.objects import delete_one, patch_one, read_one, replace_one
from dataplaneapi.handlers.configuration.section import create

ACTIONS = {"get": read_one, "create": create, "replace": replace_one, "patch": patch_one, "delete": delete_one}
