"""Serve named sections, such as backends, frontends and defaults."""

from dataplaneapi.api.call import Call
from dataplaneapi.handlers.configuration.objects import (
    Write,
    WriteHandler,
    create_write,
    delete_one,
    patch_one,
    read_all,
    read_one,
    replace_one,
    target_of,
)


async def build_create(call: Call) -> Write:
    target = target_of(call, one=False)
    made = target.with_key(call.body.get(target.resource.key))
    return create_write(call, target, lambda _, after: made.object(after))


create = WriteHandler(build_create)
ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "patch": patch_one, "delete": delete_one}
