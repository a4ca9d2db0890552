"""Children with a position inside a section, such as rules, ACLs and log targets."""

from dataplaneapi.api.call import Call, JsonCall
from dataplaneapi.api.responses import Response
from dataplaneapi.handlers.configuration.objects import (
    Document,
    Target,
    change,
    delete_one,
    patch_one,
    read_all,
    read_one,
    replace_all,
    replace_one,
    target,
)


async def create(call: JsonCall) -> Response:
    """Creates an element before the one at the path's index; a negative index appends."""
    return await _added(call, target(call, one=True))


async def append(call: JsonCall) -> Response:
    return await _added(call, target(call, one=False))


async def _added(call: Call, asked: Target) -> Response:
    before: list[Document] = []

    def create(document: Document) -> Document:
        before[:] = [document]
        return asked.create(document, call.body)

    # An ACL may be placed above the position that was asked for.
    return await change(call, create, 201, lambda document: asked.added_object(before[0], document))


ACTIONS = {
    "list": read_all,
    "get": read_one,
    "create": create,
    "append": append,
    "replace": replace_one,
    "patch": patch_one,
    "replace_all": replace_all,
    "delete": delete_one,
}
