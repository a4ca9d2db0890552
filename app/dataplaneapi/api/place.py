"""Determine the object or stored file that a call addresses, from its parameters."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dataplaneapi.api.operations import Operation
from dataplaneapi.api.parameters import query_values
from haproxy_native.changes.expect import find_value
from haproxy_native.editing.editor import Editor, Parent
from haproxy_native.editing.object_names import ObjectPlace, name_of, spelled
from haproxy_native.errors import NativeError
from haproxy_native.text.document import Document
from haproxy_native.text.words import normalized

if TYPE_CHECKING:
    from dataplaneapi.api.services import Services


def place_of(operation: Operation, values: Mapping[str, Any], editor: Editor, *, one: bool) -> ObjectPlace:
    """Return the place of an operation's object or collection.

    With `one`, the last name in the path is the key of the object. The key of a collection, or of an object without a name, is empty.
    """
    resource = editor.resources[operation.resource or ""]
    names = list(operation.names)
    key = values[names.pop()] if one and names else ""
    parent: Parent = None
    if operation.parent is not None:
        name = values[names[0]] if names else values.get(resource.parent_parameter, "")
        parent = (editor.resources[operation.parent], name)
    return ObjectPlace(resource, parent, key)


def parent_name(place: ObjectPlace) -> str:
    """Return the name of the section that contains the object at a place. Return an empty text for a top-level object."""
    return name_of(ObjectPlace(place.parent[0], None, place.parent[1])) if place.parent else ""


def present_value(operation: Operation, values: Mapping[str, Any], services: "Services", base: Document | None = None) -> Any:
    """Return the object of an operation as a GET returns it, or None if the object does not exist. `base` is `Call.base`."""
    resource = services.editor.resources.by_name.get(operation.resource or "")
    transaction = values.get("transaction_id")
    try:
        if resource is None or resource.file:
            scope_editor = services.scope_editor
            if operation.resource not in scope_editor.resources.by_name or "name" not in values:
                return None
            file = services.spoe.file(values["parent_name"]).read(transaction)
            return scope_editor.get_object(file, values["scope_name"], scope_editor.resources[operation.resource], values["name"])
        one = operation.is_of_one or resource.kind == "singleton"
        document = services.engine.read(transaction) if base is None else base
        place = place_of(operation, values, services.editor, one=one)
        return find_value(document, place, full=bool(values.get("full_section")))
    except NativeError:
        return None


def parent_in_query(operation: Operation, query: bytes, editor: Editor) -> dict[str, str]:
    """Return the query parameter that names the parent section, with its normalized value.

    Return an empty dictionary if no parameter of the query names the parent.
    """
    resource = editor.resources.by_name.get(operation.resource or "")
    name = resource.parent_parameter if resource and operation.parent is not None else ""
    if not name or name in operation.names:
        return {}
    value = query_values(query).get(name, [""])[0]
    return {name: normalized(value)} if value else {}


def with_known_names(operation: Operation, values: Mapping[str, str], services: "Services") -> dict[str, str]:
    """Return the values of the path parameters, with the canonical name of the object or stored file.

    Permissions, the audit log, the history, handlers and the store use only the canonical name.
    """
    resource = services.editor.resources.by_name.get(operation.resource or "")
    if resource and not resource.file:
        return {name: normalized(value) if name in operation.names else value for name, value in values.items()}
    # HAProxy names a map by its file, so a runtime call for a map names a stored file. Its certificates and other lists have their own
    # names.
    of_process = "maps" if operation.access.startswith("map/") else ""
    store = services.engine.stores.get(operation.store or values.get("store", of_process))
    names = [name for name in operation.names if name != "store"]
    if not (store and names):
        return dict(values)
    value = values[names[0]]
    # A runtime call may name a map by the path under which HAProxy has loaded it, which may be a stored file.
    is_path = "/" in value and (operation.handler_name or "").startswith("runtime.")
    own = store.file_loaded_as(services.engine.context, value) if is_path else None
    return {**values, names[0]: own.name if own else store.stored_name(value)}


def object_of(operation: Operation, values: Mapping[str, Any], services: "Services", body: Any = None) -> str:
    """Return the name of the object that an operation is for, by its parameters and the body of a POST.

    Return an empty text if parameters and body do not name the object.
    """
    if operation.store:
        store = services.engine.stores.get(operation.store)
        return spelled(store.kind, str(values[operation.names[0]])) if store and operation.names else ""
    resource = services.editor.resources.by_name.get(operation.resource or "")
    if resource is None or resource.file:
        return spelled(*(part for kind, name in operation.collections if name in values for part in (kind, str(values[name]))))
    is_named_in_body = operation.method == "POST" and isinstance(body, dict)
    place = place_of(operation, values, services.editor, one=operation.is_of_one)
    if is_named_in_body and not operation.is_of_one:
        place = replace(place, key=str(body.get(resource.key) or ""))
    return name_of(place)
