"""At which line an object, or a member of it, stands in its file."""

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import kind_of, parsed, section_of_object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest
from haproxy_native.planning.outcome import line_of
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section


def line_of_member(editor: Editor, document: Document, object_: str, member: str = "") -> int | None:
    """Returns a member's line, from 1, or the object's if the member has none of its own; None for anything that is in no section."""
    if (section := _section(editor, document, object_)) is None:
        return None
    _, _, *within = parsed(object_) if "/" in object_ else (object_, "")
    resource = editor.resources.by_section[section.kind]
    return line_of(document, section, _place(editor, section, resource, within, member))


def file_of_object(editor: Editor, document: Document, object_: str) -> str:
    """Where HAProxy loads several; empty for the main one."""
    section = _section(editor, document, object_)
    return section.file or "" if section else ""


def _section(editor: Editor, document: Document, object_: str) -> Section | None:
    try:
        return document.find(*section_of_object(editor, object_))
    except BadRequest:
        return None


def _place(editor: Editor, section: Section, resource: Resource, within: list[str], member: str) -> int:
    """The line's place in its section; 0 for the header."""
    children = dict(editor.resources.children(resource.name))
    if len(within) == 2:
        child = next((child for child in children.values() if kind_of(child) == within[0]), None)
        rows = editor.lines.children(section, child) if child else None
        named = zip(rows.places, rows.objects, strict=True) if rows else ()
        return next((place for place, row in named if child and row and str(row.get(child.key)) == within[1]), 0)
    if member in children:
        return next(iter(editor.lines.children(section, children[member]).places), 0)
    shape = editor.shape(resource)
    directives = ((shape.directives[number], lines) for number, lines in shape.reading(section).lines.items())
    own = (
        lines for directive, lines in directives if member and member in (directive.path[:1] or (*directive.shape.members, directive.rows))
    )
    return next((place for lines in own for place, _ in lines), 0)
