"""The Runtime API sockets that a configuration opens, in the order of the file."""

from pathlib import Path

from native.config.editor import Editor
from native.text.document import Document


def addresses(document: Document) -> list[str]:
    """As the file writes them."""
    editor = Editor()
    found = editor.list_objects(document, editor.resources["global"])
    return [each["address"] for section in found for each in section.get("runtime_apis", ()) if each.get("address")]


def addresses_in(path: Path) -> list[str]:
    """Those of a file; none of one that cannot be read."""
    try:
        return addresses(Document.parse(path.read_bytes()))
    except OSError:
        return []
