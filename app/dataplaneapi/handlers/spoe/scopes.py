"""The scopes of a SPOE file, identified by their names in brackets."""

from dataplaneapi.api.call import JsonCall, ReadCall
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.handlers.spoe.objects import change
from haproxy_native.spoe.editor import check_scope, scopes


async def list_all(call: ReadCall) -> Response:
    return json_response(200, scopes(call.services.spoe.file(call.get("parent_name")).read(call.get("transaction_id"))))


async def read(call: ReadCall) -> Response:
    check_scope(call.services.spoe.file(call.get("parent_name")).read(call.get("transaction_id")), call.get("name"))
    return json_response(200, call.get("name"))


async def create(call: JsonCall) -> Response:
    editor = call.services.scope_editor
    return await change(call, lambda document: editor.create_scope(document, call.body), 201, lambda document: call.body)


async def delete(call: JsonCall) -> Response:
    editor = call.services.scope_editor
    return await change(call, lambda document: editor.delete_scope(document, call.get("name")), 204)
