"""Serve the scopes of a SPOE file. A scope is identified by its name in brackets."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.handlers.spoe.objects import check_of, make_edit
from haproxy_native.changes.operations import Edit
from haproxy_native.spoe.editor import ScopeEdit, check_scope, scopes


async def list_all(call: ReadCall) -> Response:
    return json_response(200, scopes(call.services.spoe.file(call.path.parent_name).read(call.query.transaction_id)))


async def read(call: ReadCall) -> Response:
    check_scope(call.services.spoe.file(call.path.parent_name).read(call.query.transaction_id), call.path.name)
    return json_response(200, call.path.name)


async def create(call: JsonCall) -> Response:
    return await make_edit(call, _create_edit(call), 201, lambda document: call.body)


async def delete(call: JsonCall) -> Response:
    return await make_edit(call, _delete_edit(call), 204)


def _create_edit(call: Call) -> Edit:
    return ScopeEdit(lambda document: call.services.scope_editor.create_scope(document, call.body))


def _delete_edit(call: Call) -> Edit:
    return ScopeEdit(lambda document: call.services.scope_editor.delete_scope(document, call.path.name))


CHECKS = {"create": check_of(_create_edit), "delete": check_of(_delete_edit)}
