"""Children with a position inside a section: rules, ACLs, log targets and their like."""

from app.answer import Answer
from app.call import Written
from app.handlers.configuration import change, delete_one, read_all, read_one, replace_one, target


async def create(call: Written) -> Answer:
    """Before the element at the index of the path; a negative one, or none in the path, appends."""
    asked = target(call, one=True)
    return await change(call, lambda document: asked.editor.create(document, asked.resource, asked.parent, call.body, index=asked.key), 201)


async def replace_all(call: Written) -> Answer:
    asked = target(call, one=False)
    parent = asked.parent
    assert parent is not None
    return await change(call, lambda document: asked.editor.replace_all(document, asked.resource, parent, call.body), 200)


ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "replace_all": replace_all, "delete": delete_one}
