"""The Runtime API sockets that a configuration opens, in the order of the file."""

from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Unreadable
from haproxy_native.text.document import Document


def addresses(document: Document) -> list[str]:
    """As the file writes them."""
    editor = Editor()
    found = editor.list_objects(document, editor.resources["global"])
    return [each["address"] for section in found for each in section.get("runtime_apis", ()) if each.get("address")]


def addresses_in(files: ConfigFiles) -> list[str]:
    """Those of the files on disk; none of what cannot be read."""
    try:
        return addresses(Document.parse(files.read()))
    except Unreadable:
        return []
