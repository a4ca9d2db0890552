"""Create and delete the entries of the traces section. They have neither name nor index, so their content identifies them."""

from typing import Any

from dataplaneapi.api.call import Call
from dataplaneapi.handlers.configuration.objects import Document, Write, WriteHandler
from haproxy_native.changes.expect import find_value
from haproxy_native.changes.operations import Replace
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.errors import Missing

TRACES, ENTRIES = "traces", "entries"


async def build_create(call: Call) -> Write:
    entries = [*_entries(_section(call)), call.body]
    place = _place(call)
    return Write([_put(call, entries)], 201, lambda _, after: _entries(find_value(after, place))[-1], silent=True)


async def build_delete(call: Call) -> Write:
    text, entries = _place(call).resource.key, _entries(_section(call))
    line = " ".join(call.body[text].split())
    index = next((index for index, entry in enumerate(entries) if entry[text] == line), None)
    if index is None:
        raise Missing(f"trace entry does not exists: '{line}'")
    return Write([_put(call, entries[:index] + entries[index + 1 :])], 204)


create, delete = WriteHandler(build_create), WriteHandler(build_delete)


def _place(call: Call) -> ObjectPlace:
    return ObjectPlace(call.services.editor.resources[TRACES], None, "")


def _section(call: Call) -> dict[str, Any]:
    document: Document = call.document
    return find_value(document, _place(call)) or {}


def _entries(section: dict[str, Any]) -> list[dict[str, Any]]:
    return list(section.get(ENTRIES) or [])


def _put(call: Call, entries: list[dict[str, Any]]) -> Replace:
    return Replace(_place(call), _section(call) | {ENTRIES: entries}, editor=call.services.editor)
