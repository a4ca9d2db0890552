"""What a request asks for, as history and audit log name it: its operation, and its object."""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.call import Call
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.operations import READS, Handler, Operation
from dataplaneapi.api.place import parent_in_query, place_of
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services
from haproxy_native.editing.object_names import ObjectPlace, name_of, spelled


def note(exchange: Exchange, values: Mapping[str, Any], services: Services) -> None:
    """Note in the author's request the operation that it is for, and the object that its path and query name."""
    operation = exchange.operation
    if operation and exchange.author and (request := exchange.author.request):
        request.operation = exchange.operation_id
        if operation.method not in READS or services.audit.reads:
            request.object = object_of(operation, {**values, **parent_in_query(operation, exchange.query, services.editor)}, services)


def name(call: Call, object_: str) -> None:
    """The call is for an object whose name is known only now."""
    if request := call.author.request:
        request.object = object_


async def name_created(call: Call, next: Handler) -> Response:
    """Note the object that a call creates, whose name is in the body."""
    if object_ := object_in(call):
        name(call, object_)
    return await next(call)


def object_in(call: Call) -> str:
    """The object that a call is about, as far as its path, its query and its body name it."""
    resource, key = call.services.editor.resources.by_name.get(call.operation.resource or ""), ""
    if resource and call.operation.method == "POST" and isinstance(call.body, dict):
        key = str(call.body.get(resource.key) or "")
    return object_of(call.operation, call.values, call.services, key)


def object_of(operation: Operation, values: Mapping[str, Any], services: Services, key: str = "") -> str:
    """The object, as far as the path and `key` name it; empty where they do not."""
    if operation.store:
        store = services.engine.stores.get(operation.store)
        return spelled(store.kind, str(values[operation.names[0]])) if store and operation.names else ""
    resource = services.editor.resources.by_name.get(operation.resource or "")
    if resource is None or resource.file:
        return _of_path(operation, values)
    resource, parent, own = place_of(operation, values, services.editor, one=operation.is_of_one)
    return name_of(ObjectPlace(resource, parent, key if own is None else own))


def _of_path(operation: Operation, values: Mapping[str, Any]) -> str:
    return spelled(*(part for kind, name in operation.collections if name in values for part in (kind, str(values[name]))))
