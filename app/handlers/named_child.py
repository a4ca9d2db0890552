"""Children with a name inside a section: servers, binds and their like."""

from app.answer import Answer
from app.call import Written
from app.handlers.configuration import change, delete_one, read_all, read_one, replace_one, target


async def create(call: Written) -> Answer:
    asked = target(call, one=False)
    return await change(call, lambda document: asked.editor.create(document, asked.resource, asked.parent, call.body), 201)


ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "delete": delete_one}
