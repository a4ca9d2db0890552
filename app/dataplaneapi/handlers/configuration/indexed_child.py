"""Serve the children of a section that have a position, such as rules, ACLs and log targets."""

from dataplaneapi.api.call import Call
from dataplaneapi.handlers.configuration.objects import (
    Write,
    WriteHandler,
    create_write,
    delete_one,
    patch_one,
    read_all,
    read_one,
    replace_all,
    replace_one,
    target_of,
)


async def build_create(call: Call) -> Write:
    """Build the write that inserts an element before the element at the index in the path. A negative index appends it."""
    target = target_of(call, one=True)
    # The editor may insert an ACL above the requested position, so the response shows the added object instead of the one at that position.
    return create_write(call, target, target.added_object)


async def build_append(call: Call) -> Write:
    target = target_of(call, one=False)
    return create_write(call, target, target.added_object)


ACTIONS = {
    "list": read_all,
    "get": read_one,
    "create": WriteHandler(build_create),
    "append": WriteHandler(build_append),
    "replace": replace_one,
    "patch": patch_one,
    "replace_all": replace_all,
    "delete": delete_one,
}
