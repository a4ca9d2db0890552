"""Serve the scopes of a SPOE file. A scope is identified by its name in brackets."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.handlers.spoe.objects import change, checked
from haproxy_native.changes.operations import Edit
from haproxy_native.spoe.editor import CreateScope, DeleteScope, check_scope, scopes


async def list_all(call: ReadCall) -> Response:
    return json_response(200, scopes(call.services.spoe.file(call.path.parent_name).read(call.query.transaction_id)))


async def read(call: ReadCall) -> Response:
    check_scope(call.services.spoe.file(call.path.parent_name).read(call.query.transaction_id), call.path.name)
    return json_response(200, call.path.name)


async def create(call: JsonCall) -> Response:
    return await change(call, _new(call), 201, lambda document: call.body)


async def delete(call: JsonCall) -> Response:
    return await change(call, _gone(call), 204)


def _new(call: Call) -> Edit:
    return CreateScope(call.services.scope_editor, call.body)


def _gone(call: Call) -> Edit:
    return DeleteScope(call.services.scope_editor, call.path.name)


CHECKS = {"create": checked(_new), "delete": checked(_gone)}
