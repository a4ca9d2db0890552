"""Serve named sections, such as backends, frontends and defaults."""

from dataplaneapi.api.call import Call
from dataplaneapi.handlers.configuration.objects import (
    Write,
    Written,
    created,
    delete_one,
    patch_one,
    read_all,
    read_one,
    replace_one,
    target,
)


async def creating(call: Call) -> Write:
    asked = target(call, one=False)
    made = asked.named(call.body.get(asked.resource.key))
    return created(call, asked, lambda _, after: made.object(after))


create = Written(creating)
ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "patch": patch_one, "delete": delete_one}
