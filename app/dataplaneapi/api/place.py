"""Which objects of the configuration an operation is about, by its parameters."""

from typing import Any

from dataplaneapi.api.call import Call
from haproxy_native.editing.editor import Parent
from haproxy_native.editing.resources import Resource


def place_of(call: Call, *, one: bool) -> tuple[Resource, Parent, Any]:
    """The collection, what it stands in, and the key of one of it, which is the last name in the path; None where that is not asked for."""
    operation, resources = call.operation, call.services.editor.resources
    resource = resources[operation.resource or ""]
    names = list(operation.names)
    key = call.values[names.pop()] if one and names else None
    parent: Parent = None
    if operation.parent is not None:
        name = call.values[names[0]] if names else call.get(resource.parent_parameter, "")
        parent = (resources[operation.parent], name)
    return resource, parent, key
