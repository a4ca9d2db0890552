"""Agents, groups and messages in a scope of a SPOE file. Their status never tells of a reload; a header does."""

from collections.abc import Callable
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.handlers.configuration.objects import Document, check_version_or_transaction
from dataplaneapi.handlers.spoe.files import scheduled
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import Refused


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
    return await change(
        call,
        lambda document: editor.create(document, scope, kind, call.body),
        201,
        lambda document: editor.get_object(document, scope, kind, call.body["name"]),
    )


async def replace(call: JsonCall) -> Response:
    """Replaces an object, or gives it another name, which lines of its scope follow."""
    editor, scope, kind, name = call.services.scope_editor, call.get("scope_name"), resource(call), call.get("name")
    to = call.body.get("name") or name
    try:
        return await change(
            call,
            lambda document: editor.replace(document, scope, kind, name, call.body),
            200,
            None if kind.silent else lambda document: editor.get_object(document, scope, kind, to),
        )
    except Refused as error:
        if to == name:
            raise
        remedy = f"where the configuration names {name}, POST {to} beside it, change those lines, and DELETE {name} then"
        raise Refused(f"{error.detail}; {remedy}", place=error.place, alerts=error.alerts) from None


async def delete(call: JsonCall) -> Response:
    editor, kind = call.services.scope_editor, resource(call)
    return await change(call, lambda document: editor.delete(document, call.get("scope_name"), kind, call.get("name")), 204)


async def change(call: Call, edit: Callable[[Document], Document], done: int, stored: Callable[[Document], Any] | None = None) -> Response:
    """Makes an edit and answers `done`; the body is the request's, with what was quoted for the client as it is `stored`."""
    file = call.services.spoe.file(call.get("parent_name"))
    transaction_id, version = call.get("transaction_id"), call.get("version", 0)
    asked = f"/v3/services/haproxy/spoe/{call.get('parent_name')}/version"
    check_version_or_transaction(call, transaction_id, version, file.version(), asked)
    edited: list[Document] = []

    def remembering(document: Document) -> Document:
        edited[:] = [edit(document)]
        return edited[0]

    outcome = await file.write(remembering, version=version or None, transaction_id=transaction_id)
    if stored is None:
        return empty(done, scheduled(outcome))
    return json_response(done, stored(edited[0]), scheduled(outcome))


ACTIONS = {"list": list_all, "get": read_one, "create": create, "replace": replace, "delete": delete}
