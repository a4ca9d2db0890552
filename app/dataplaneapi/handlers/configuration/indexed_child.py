"""Serve the children of a section that have a position, such as rules, ACLs and log targets."""

from dataplaneapi.api.call import Call
from dataplaneapi.handlers.configuration.objects import (
    Write,
    Written,
    created,
    delete_one,
    patch_one,
    read_all,
    read_one,
    replace_all,
    replace_one,
    target,
)


async def creating(call: Call) -> Write:
    """Build the write that inserts an element before the element at the index in the path. A negative index appends it."""
    asked = target(call, one=True)
    # The editor may insert an ACL above the requested position, so the response shows the added object instead of the one at that position.
    return created(call, asked, asked.added_object)


async def appending(call: Call) -> Write:
    asked = target(call, one=False)
    return created(call, asked, asked.added_object)


ACTIONS = {
    "list": read_all,
    "get": read_one,
    "create": Written(creating),
    "append": Written(appending),
    "replace": replace_one,
    "patch": patch_one,
    "replace_all": replace_all,
    "delete": delete_one,
}
