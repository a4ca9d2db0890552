"""Serve the children of a section that have a name, such as servers and binds."""

from dataplaneapi.handlers.configuration.objects import delete_one, patch_one, read_all, read_one, replace_one
from dataplaneapi.handlers.configuration.section import create

# A named child is created like a section, inside the parent that the call names.
ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "patch": patch_one, "delete": delete_one}
