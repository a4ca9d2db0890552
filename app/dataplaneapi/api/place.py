"""Which objects of the configuration an operation is about, by its parameters."""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.operations import Operation
from haproxy_native.editing.editor import Editor, Parent
from haproxy_native.editing.resources import Resource


def place_of(operation: Operation, values: Mapping[str, Any], editor: Editor, *, one: bool) -> tuple[Resource, Parent, Any]:
    """The collection, what it stands in, and the key of one of it, which is the last name in the path; None where that is not asked for."""
    resource = editor.resources[operation.resource or ""]
    names = list(operation.names)
    key = values[names.pop()] if one and names else None
    parent: Parent = None
    if operation.parent is not None:
        name = values[names[0]] if names else values.get(resource.parent_parameter, "")
        parent = (editor.resources[operation.parent], name)
    return resource, parent, key
