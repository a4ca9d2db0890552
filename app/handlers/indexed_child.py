"""Children with a position inside a section: rules, ACLs, log targets and their like."""

from typing import Any

from app.answer import Answer
from app.call import Written
from app.handlers.configuration import Document, change, delete_one, read_all, read_one, replace_one, target


async def create(call: Written) -> Answer:
    """Before the element at the index of the path; a negative one, or none in the path, appends."""
    asked = target(call, one=True)

    def stored(document: Document) -> Any:
        return asked.objects(document)[-1] if asked.key is None or asked.key < 0 else asked.object(document)

    return await change(call, lambda document: asked.create(document, call.body), 201, stored)


async def replace_all(call: Written) -> Answer:
    asked = target(call, one=False)
    return await change(call, lambda document: asked.replace_all(document, call.body), 200, asked.objects)


ACTIONS = {"list": read_all, "get": read_one, "create": create, "replace": replace_one, "replace_all": replace_all, "delete": delete_one}
