"""Parse declared sections from API objects or from text, and split sections into parts.

The parts of a section are the section itself and each of its named children, such as servers. Each part is an object with its own owners.
A list whose rows have no names, such as the rules of a frontend, is a member of the section.
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
# The member of a section with its children, such as `servers`, and the name of a child. Both are empty for the section itself.
Part = tuple[str, str]
SELF: Part = ("", "")


def parts_of(editor: Editor, resource: Resource, object_: Mapping[str, Any]) -> dict[Part, Members]:
    """Split a section with its children into parts. Return the members of each part. The name of a part is not among its members."""
    children = _named_children(editor, resource)
    parts = {SELF: {member: value for member, value in object_.items() if member != _key(resource) and member not in children}}
    for member, child in children.items():
        for name, row in (object_.get(member) or {}).items():
            parts[member, name] = {member: value for member, value in row.items() if member != child.key}
    return parts


def object_of(editor: Editor, resource: Resource, name: str, parts: Mapping[Part, Members]) -> dict[str, Any]:
    """Join the parts of a section into one object with its children. This is the inverse of `parts_of`."""
    children = _named_children(editor, resource)
    object_ = dict(parts[SELF])
    if _key(resource):
        object_[resource.key] = name
    for (member, child_name), members in parts.items():
        if member:
            object_.setdefault(member, {})[child_name] = {children[member].key: child_name, **members}
    return object_


def part_name(editor: Editor, resource: Resource, name: str, part: Part) -> str:
    """Return the object name of a part of the section `name`, such as `backend/shop/server/web1`."""
    if part == SELF:
        return name_of(ObjectPlace(resource, None, name))
    return name_of(ObjectPlace(_named_children(editor, resource)[part[0]], (resource, name), part[1]))


def _named_children(editor: Editor, resource: Resource) -> dict[str, Resource]:
    """Return the resources of those children of a section that have names, by the member of the section that contains the children."""
    return {member: child for member, child in editor.resources.children(resource.name) if child.kind == "named"}


def _key(resource: Resource) -> str:
    """Return the member that has the name of a section. Return an empty string for a section that exists only once, such as `global`."""
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
    """Return (objects, sections as text) of declared API objects. The objects are as the API returns them after they are written.

    The texts have the indentation of `document`. Raises BadRequest.
    """
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    for resource, body in objects:
        name = str(body.get(resource.key) or "") if resource.kind == "section" else ""
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        declared[resource.name, name], texts[resource.name, name] = editor.as_written(resource, body, document)
    return declared, texts


def of_text(editor: Editor, text: bytes) -> tuple[dict[Section, Object], dict[Section, TextSection]]:
    """Parse sections in the syntax of `haproxy.cfg`. Return (objects, sections as text).

    Raises BadRequest for lines that the API cannot represent.
    """
    document = Document.parse(text)
    by_kind = {collection.section: collection for collection in collections(editor).values()}
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    if lines := [line.strip() for line in document.preamble.splitlines() if line.strip() and not line.lstrip().startswith("#")]:
        raise BadRequest(f"{lines[0][:100]!r} is outside of a section; begin with a section, such as: backend shop")
    for name, section in zip(document.names(), document.sections, strict=True):
        resource = by_kind.get(section.kind)
        if section.kind == BOUNDARY or resource is None:
            raise BadRequest(f"a section of the kind {section.kind!r} cannot be owned, since the API does not support it; remove it")
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        for place, words in editor.unreadable(section, resource):
            line = f", in {section.lines[place].text.strip()[:200]!r}" if words != section.lines[place].text.strip() else ""
            raise BadRequest(f"{resource.title} {name}: the API has no member for {words[:100]!r}{line}, so it cannot be owned; remove it")
        if conditions := section.open_conditionals() or [line for line in section.lines if line.args and line.args[0].startswith(".")]:
            raise BadRequest(f"{resource.title} {name}: the condition {conditions[0].text.strip()[:100]!r} cannot be owned; remove it")
        key = name if resource.kind == "section" else ""
        declared[resource.name, key] = editor.get_object(document, resource, None, key, full=True)
        texts[resource.name, key] = section
    return declared, texts
