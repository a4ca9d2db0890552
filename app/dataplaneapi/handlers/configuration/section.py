"""Named sections, such as backends, frontends and defaults."""

from dataplaneapi.api.call import JsonCall
from dataplaneapi.api.responses import Response
from dataplaneapi.handlers.configuration.objects import change, delete_one, patch_one, read_all, read_one, replace_one, target


async def create(call: JsonCall) -> Response:
    asked = target(call, one=False)
    made = asked.named(call.body.get(asked.resource.key))
    return await change(call, lambda document: asked.create(document, call.body), 201, made.object)


ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "patch": patch_one, "delete": delete_one}
