"""The entries of the traces section, which have neither name nor index: an entry is identified by its content."""

from typing import Any

from dataplaneapi.api.call import JsonCall
from dataplaneapi.api.responses import Response
from dataplaneapi.handlers.configuration.objects import Document, change
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Missing

TRACES, ENTRIES = "traces", "entries"


async def create(call: JsonCall) -> Response:
    editor = call.services.editor

    def edit(document: Document) -> Document:
        return _with_entries(editor, document, [*_entries(editor, document), call.body])

    return await change(call, edit, 201, lambda document: _entries(editor, document)[-1], silent=True)


async def delete(call: JsonCall) -> Response:
    editor = call.services.editor
    text = editor.resources[TRACES].key
    wanted = " ".join(call.body[text].split())

    def edit(document: Document) -> Document:
        entries = _entries(editor, document)
        place = next((place for place, entry in enumerate(entries) if entry[text] == wanted), None)
        if place is None:
            raise Missing(f"trace entry does not exists: '{wanted}'")
        return _with_entries(editor, document, entries[:place] + entries[place + 1 :])

    return await change(call, edit, 204)


def _entries(editor: Editor, document: Document) -> list[dict[str, Any]]:
    return list(_section(editor, document).get(ENTRIES) or [])


def _with_entries(editor: Editor, document: Document, entries: list[dict[str, Any]]) -> Document:
    return editor.replace(document, editor.resources[TRACES], None, "", _section(editor, document) | {ENTRIES: entries})


def _section(editor: Editor, document: Document) -> dict[str, Any]:
    try:
        return editor.get_object(document, editor.resources[TRACES], None, "")
    except Missing:
        return {}
