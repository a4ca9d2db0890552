"""Reads declared sections from objects of the API or from text, and splits them into parts. Pure.

The parts of a section are the section itself and each of its named children. Each part is an object with owners of its own. A list whose
rows have no names is a member of the section.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from haproxy_native.editing.editor import Editor, Object
from haproxy_native.editing.object_names import ObjectPlace, name_of
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest
from haproxy_native.features.apply.rules import Section
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY
from haproxy_native.text.section import Section as TextSection

Members = dict[str, Any]
# The member of a section that holds a child, and the child's name; both empty for the section itself.
Part = tuple[str, str]
SELF: Part = ("", "")


def parts_of(editor: Editor, resource: Resource, object_: Mapping[str, Any]) -> dict[Part, Members]:
    """Return the members of each part of a full section."""
    named = _named(editor, resource)
    parts = {SELF: {member: value for member, value in object_.items() if member != _key(resource) and member not in named}}
    for member, child in named.items():
        for name, row in (object_.get(member) or {}).items():
            parts[member, name] = {member: value for member, value in row.items() if member != child.key}
    return parts


def object_of(editor: Editor, resource: Resource, name: str, parts: Mapping[Part, Members]) -> dict[str, Any]:
    """Return the full section with these parts."""
    named = _named(editor, resource)
    object_ = dict(parts[SELF])
    if _key(resource):
        object_[resource.key] = name
    for (member, key), members in parts.items():
        if member:
            object_.setdefault(member, {})[key] = {named[member].key: key, **members}
    return object_


def part_name(editor: Editor, resource: Resource, name: str, part: Part) -> str:
    """Return the object name of a part, as in `backend/shop/server/web1`."""
    if part == SELF:
        return name_of(ObjectPlace(resource, None, name))
    return name_of(ObjectPlace(_named(editor, resource)[part[0]], (resource, name), part[1]))


def _named(editor: Editor, resource: Resource) -> dict[str, Resource]:
    return {member: child for member, child in editor.resources.children(resource.name) if child.kind == "named"}


def _key(resource: Resource) -> str:
    return resource.key if resource.kind == "section" else ""


def collections(editor: Editor) -> dict[str, Resource]:
    """Return the resources that can be declared, by the name of their collection."""
    kinds = ("section", "singleton")
    return {
        name: resource
        for name, resource in editor.resources.by_name.items()
        if resource.kind in kinds and not resource.parents and not resource.file
    }


def of_objects(
    editor: Editor, objects: Iterable[tuple[Resource, Mapping[str, Any]]], document: Document
) -> tuple[dict[Section, Object], dict[Section, TextSection]]:
    """Return the full sections as the API would return them once written, and their texts. Raises BadRequest.

    The texts have the indentation of `document`.
    """
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    for resource, body in objects:
        name = str(body.get(resource.key) or "") if resource.kind == "section" else ""
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        declared[resource.name, name], texts[resource.name, name] = editor.as_written(resource, body, document)
    return declared, texts


def of_text(editor: Editor, text: bytes) -> tuple[dict[Section, Object], dict[Section, TextSection]]:
    """Parse sections in the syntax of `haproxy.cfg`. Return them as objects and as texts.

    Raises BadRequest for lines that the API cannot represent.
    """
    document = Document.parse(text)
    by_kind = {collection.section: collection for collection in collections(editor).values()}
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    if lines := [line.strip() for line in document.preamble.splitlines() if line.strip() and not line.lstrip().startswith("#")]:
        raise BadRequest(f"{lines[0][:100]!r} stands in no section; begin with one, as in backend shop")
    for name, section in zip(document.names(), document.sections, strict=True):
        resource = by_kind.get(section.kind)
        if section.kind == BOUNDARY or resource is None:
            raise BadRequest(f"a section of the kind {section.kind!r} is no object of the API, and cannot be owned")
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        for place, words in editor.unreadable(section, resource):
            line = f", in {section.lines[place].text.strip()[:200]!r}" if words != section.lines[place].text.strip() else ""
            raise BadRequest(f"{resource.title} {name}: the API has no member for {words[:100]!r}{line}, so that nobody can own it")
        if conditions := section.open_conditionals() or [line for line in section.lines if line.args and line.args[0].startswith(".")]:
            raise BadRequest(f"{resource.title} {name}: a condition, as {conditions[0].text.strip()[:100]!r}, cannot be owned")
        key = name if resource.kind == "section" else ""
        declared[resource.name, key] = editor.get_object(document, resource, None, key, full=True)
        texts[resource.name, key] = section
    return declared, texts
