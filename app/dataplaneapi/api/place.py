"""Which objects of the configuration, or which stored file, an operation is about, by its parameters."""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.operations import Operation
from dataplaneapi.api.services import Services
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


def with_stored_name(operation: Operation, values: Mapping[str, str], services: Services) -> dict[str, str]:
    """Return the values of a path with the one name that a stored file has, whichever of its names is sent.

    Nothing else asks for it by another name: permissions, the audit log, the history, handlers and the store.
    """
    # Maps of the process are named by their files; its certificates and other lists have names of their own.
    of_process = "maps" if operation.access.startswith("map/") else ""
    store = services.engine.stores.get(operation.store or values.get("store", of_process))
    names = [name for name in operation.names if name != "store"]
    return {**values, names[0]: store.resolved(values[names[0]])} if store and names else dict(values)
