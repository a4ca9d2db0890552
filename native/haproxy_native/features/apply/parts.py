"""A section as its parts: itself, and each of its children that have names. Pure."""

from collections.abc import Mapping
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import Place, name_of
from haproxy_native.editing.resources import Resource

Members = dict[str, Any]
# The member of a section that holds a child, and the child's name; both empty for the section itself.
Part = tuple[str, str]
SELF: Part = ("", "")


def parts_of(editor: Editor, resource: Resource, object_: Mapping[str, Any]) -> dict[Part, Members]:
    """The members of each part of an object with all that stands in it; lists without names are members of the section."""
    named = _named(editor, resource)
    parts = {SELF: {member: value for member, value in object_.items() if member != _key(resource) and member not in named}}
    for member, child in named.items():
        for name, row in (object_.get(member) or {}).items():
            parts[member, name] = {member: value for member, value in row.items() if member != child.key}
    return parts


def object_of(editor: Editor, resource: Resource, name: str, parts: Mapping[Part, Members]) -> dict[str, Any]:
    """The object of these parts."""
    named = _named(editor, resource)
    object_ = dict(parts[SELF])
    if _key(resource):
        object_[resource.key] = name
    for (member, key), members in parts.items():
        if member:
            object_.setdefault(member, {})[key] = {named[member].key: key, **members}
    return object_


def part_name(editor: Editor, resource: Resource, name: str, part: Part) -> str:
    """Returns a part's name as /v3/sidecar writes it."""
    if part == SELF:
        return name_of(Place(resource, None, name))
    return name_of(Place(_named(editor, resource)[part[0]], (resource, name), part[1]))


def _named(editor: Editor, resource: Resource) -> dict[str, Resource]:
    return {member: child for member, child in editor.resources.children(resource.name) if child.kind == "named"}


def _key(resource: Resource) -> str:
    return resource.key if resource.kind == "section" else ""
