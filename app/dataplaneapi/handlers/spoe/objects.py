"""Agents, groups and messages in a scope of a SPOE file. Their status never tells of a reload; a header does."""

from collections.abc import Callable
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.handlers.configuration.objects import Document, check_version_or_transaction
from dataplaneapi.handlers.spoe.files import scheduled
from haproxy_native.changes.operations import Edit
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import Refused
from haproxy_native.spoe.operations import CreateInScope, DeleteInScope, ReplaceInScope


def read(call: Call) -> Document:
    return call.services.spoe.file(call.get("parent_name")).read(call.get("transaction_id"))


def resource(call: Call) -> Resource:
    assert call.operation.resource
    return call.services.scope_editor.resources[call.operation.resource]


async def list_all(call: ReadCall) -> Response:
    return json_response(200, call.services.scope_editor.list_objects(read(call), call.get("scope_name"), resource(call)))


async def read_one(call: ReadCall) -> Response:
    editor = call.services.scope_editor
    return json_response(200, editor.get_object(read(call), call.get("scope_name"), resource(call), call.get("name")))


async def create(call: JsonCall) -> Response:
    editor, scope, kind = call.services.scope_editor, call.get("scope_name"), resource(call)
    new = CreateInScope(editor, scope, kind, call.body)
    return await change(call, new, 201, lambda document: editor.get_object(document, scope, kind, call.body["name"]))


async def replace(call: JsonCall) -> Response:
    """Replaces an object, or gives it another name, which lines of its scope follow."""
    editor, scope, kind, name = call.services.scope_editor, call.get("scope_name"), resource(call), call.get("name")
    to = call.body.get("name") or name
    stored = None if kind.silent else lambda document: editor.get_object(document, scope, kind, to)
    try:
        return await change(call, ReplaceInScope(editor, scope, kind, name, call.body), 200, stored)
    except Refused as error:
        if to == name:
            raise
        remedy = f"where the configuration names {name}, POST {to} beside it, change those lines, and DELETE {name} then"
        raise Refused(f"{error.detail}; {remedy}", place=error.place, alerts=error.alerts) from None


async def delete(call: JsonCall) -> Response:
    gone = DeleteInScope(call.services.scope_editor, call.get("scope_name"), resource(call), call.get("name"))
    return await change(call, gone, 204)


async def change(call: Call, edit: Edit, done: int, stored: Callable[[Document], Any] | None = None) -> Response:
    """Makes an edit and answers `done`; the body is the request's, with what was quoted for the client as it is `stored`."""
    file = call.services.spoe.file(call.get("parent_name"))
    transaction_id, version = call.get("transaction_id"), call.get("version", 0)
    asked = f"/v3/services/haproxy/spoe/{call.get('parent_name')}/version"
    check_version_or_transaction(call, transaction_id, version, file.version(), asked)
    outcome = await file.write([edit], version=version or None, transaction_id=transaction_id)
    if stored is None:
        return empty(done, scheduled(outcome))
    return json_response(done, stored(file.read(transaction_id)), scheduled(outcome))


ACTIONS = {"list": list_all, "get": read_one, "create": create, "replace": replace, "delete": delete}
