"""Serve the agents, groups and messages in a scope of a SPOE file. Only a header, not the status, shows a pending reload."""

from collections.abc import Awaitable, Callable
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response, reload_headers
from dataplaneapi.handlers.configuration.objects import Document, check_version_or_transaction
from dataplaneapi.handlers.spoe.files import permit
from haproxy_native.changes.operations import Edit
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import Refused
from haproxy_native.spoe.editor import ScopeEdit
from haproxy_native.spoe.file import SpoeFile


def read(call: Call) -> Document:
    return call.services.spoe.file(call.path.parent_name).read(call.query.transaction_id)


def resource(call: Call) -> Resource:
    assert call.operation.resource
    return call.services.scope_editor.resources[call.operation.resource]


async def list_all(call: ReadCall) -> Response:
    return json_response(200, call.services.scope_editor.list_objects(read(call), call.path.scope_name, resource(call)))


async def read_one(call: ReadCall) -> Response:
    editor = call.services.scope_editor
    return json_response(200, editor.get_object(read(call), call.path.scope_name, resource(call), call.path.name))


async def create(call: JsonCall) -> Response:
    editor, scope, kind = call.services.scope_editor, call.path.scope_name, resource(call)
    return await make_edit(call, _create_edit(call), 201, lambda document: editor.get_object(document, scope, kind, call.body["name"]))


async def replace(call: JsonCall) -> Response:
    """Replace an object. If the body has another name, rename the object and the references to it in its scope."""
    editor, scope, kind, name = call.services.scope_editor, call.path.scope_name, resource(call), call.path.name
    to = call.body.get("name") or name
    stored = None if kind.silent else lambda document: editor.get_object(document, scope, kind, to)
    try:
        return await make_edit(call, _replace_edit(call), 200, stored)
    except Refused as error:
        if to == name:
            raise
        remedy = f"if lines of the configuration name {name}: POST {to}, change these lines, then DELETE {name}"
        raise Refused(f"{error.detail}; {remedy}", place=error.place, alerts=error.alerts) from None


async def delete(call: JsonCall) -> Response:
    return await make_edit(call, _delete_edit(call), 204)


def _check_version(call: Call, file: SpoeFile) -> None:
    version_path = f"/v3/services/haproxy/spoe/{call.path.parent_name}/version"
    check_version_or_transaction(call, call.transaction_id, call.query.version or 0, file.version(), version_path)


def _create_edit(call: Call) -> Edit:
    editor, kind = call.services.scope_editor, resource(call)
    return ScopeEdit(lambda document: editor.create(document, call.path.scope_name, kind, call.body))


def _replace_edit(call: Call) -> Edit:
    editor, kind = call.services.scope_editor, resource(call)
    return ScopeEdit(lambda document: editor.replace(document, call.path.scope_name, kind, call.path.name, call.body))


def _delete_edit(call: Call) -> Edit:
    editor, kind = call.services.scope_editor, resource(call)
    return ScopeEdit(lambda document: editor.delete(document, call.path.scope_name, kind, call.path.name))


async def make_edit(call: Call, edit: Edit, done: int, stored: Callable[[Document], Any] | None = None) -> Response:
    """Make an edit and answer with the status `done`. `stored(document)` returns the body of the answer; None means no body.

    The document is the file after the edit.
    """
    file = call.services.spoe.file(call.path.parent_name)
    transaction_id, version = call.transaction_id, call.query.version or 0
    _check_version(call, file)
    outcome = await file.write([edit], author=call.author, version=version or None, transaction_id=transaction_id)
    if stored is None:
        return empty(done, reload_headers(outcome.reload_id))
    return json_response(done, stored(file.read(transaction_id)), reload_headers(outcome.reload_id))


def check_of(build: Callable[[Call], Edit]) -> Callable[[Call], Awaitable[None]]:
    """Return a check that authorizes the edit that `build` returns."""

    async def check(call: Call) -> None:
        file, transaction_id, version = call.services.spoe.file(call.path.parent_name), call.transaction_id, call.query.version or 0
        _check_version(call, file)
        if not transaction_id:
            permit(call, call.path.parent_name)
        file.check_edit([build(call)], author=call.author, version=version or None, transaction_id=transaction_id)

    return check


CHECKS = {"create": check_of(_create_edit), "replace": check_of(_replace_edit), "delete": check_of(_delete_edit)}
ACTIONS = {"list": list_all, "get": read_one, "create": create, "replace": replace, "delete": delete}
