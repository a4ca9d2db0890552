"""Where an object stands in a configuration, and the names that objects have beside it, such as `backend/app/server/one`."""

from dataclasses import dataclass

from haproxy_native.editing.editor import Editor, Parent
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.editing.resources import Resource


@dataclass(frozen=True)
class Place:
    """The place of an object: its resource, its parent, and its name, or its position if it has none."""

    resource: Resource
    parent: Parent
    key: str | int


def name_of(place: Place) -> str:
    """Returns an object's name as /v3/sidecar writes it."""
    parts = [(place.parent[0], place.parent[1])] if place.parent else []
    return spelled(*(part for resource, key in [*parts, (place.resource, place.key)] for part in (kind_of(resource), key))).rstrip("/")


def section_object(editor: Editor, kind: str, name: str) -> str:
    """The name as an object of a section as the file calls it."""
    kinds = {
        resource.section: kind_of(resource) for resource in editor.resources.by_name.values() if resource.section and not resource.parents
    }
    return spelled(kinds.get(kind, kind), name).rstrip("/")


def object_section(editor: Editor, object_: str) -> tuple[str, str]:
    """Kind and name, as the file has them, of the section that an object is or stands in. Raises BadRequest."""
    kind, *names = parsed(object_)
    sections = {
        kind_of(resource): resource.section for resource in editor.resources.by_name.values() if resource.section and not resource.parents
    }
    return sections.get(kind, kind), names[0] if names else ""


def kind_of(resource: Resource) -> str:
    """Returns the kind: the singular of the API's path."""
    return resource.name if resource.schema.startswith(resource.name) else resource.schema
