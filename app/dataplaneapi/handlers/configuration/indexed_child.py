"""Children with a position inside a section, such as rules, ACLs and log targets."""

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
    """Creates an element before the one at the path's index; a negative index appends."""
    asked = target(call, one=True)
    # An ACL may be placed above the position that was asked for.
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
