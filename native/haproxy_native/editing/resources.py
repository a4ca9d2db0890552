"""Provide the table of resources: for each collection of the API, its place in the file, and the texts of its errors.

The table comes from the bundle (`x-resources`). An error text is a string. If the reference implementation answers with an unusual kind of
error, the table has a mapping of that kind to the text: `{not_found: not found}`.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from haproxy_native.errors import BadRequest, Exists, IndexOutOfRange, Missing, NativeError, NoParent, NotFound
from haproxy_native.grammar.load import bundle


@dataclass(frozen=True)
class Resource:
    """One collection of objects in the API, and where its objects are in the configuration."""

    name: str
    # section, named, indexed or singleton.
    kind: str
    schema: str
    # The word for one object in messages.
    title: str
    # The kind of file that contains such sections; empty for the configuration.
    file: str = ""
    # The keyword that begins the section, for objects that are sections.
    section: str = ""
    # The member that identifies an object within the collection.
    key: str = "name"
    list_schema: str = ""
    # The resources whose sections contain this collection.
    parents: tuple[str, ...] = ()
    # The member of a parent's object that embeds this collection, or a mapping of parents to such members.
    member: str | Mapping[str, str] = ""
    # The parameter of the API that names the parent.
    parent_parameter: str = ""
    full_section: bool = False
    # Whether the response to a change has no body while the change waits for a reload.
    silent: bool = False
    # Members that clients may set but never get. A replacement without such a member keeps its value.
    write_only: tuple[str, ...] = ()
    # Members that the schema requires, but not below these parents.
    optional: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The actions, if not all actions of the kind are available.
    verbs: tuple[str, ...] = ()
    # The actions that report a missing object (for create: a missing parent) before they check the version and the body.
    existence_first: tuple[str, ...] = ()
    # The actions that report a missing parent. The others treat its collection as empty.
    parent_needed: tuple[str, ...] = ()
    # The member of a frontend that names the backend for requests that no rule matches.
    fallback: str = ""
    messages: Mapping[str, Any] = field(default_factory=dict)

    def member_of(self, parent: str) -> str:
        """Return the member of the object `parent` that has the children of this collection. Empty if there is no such member."""
        return self.member.get(parent, "") if isinstance(self.member, Mapping) else self.member

    @property
    def is_implied(self) -> bool:
        """Return whether every configuration has the section, even if the file does not contain it, so that clients cannot create it."""
        return self.kind == "singleton" and bool(self.verbs) and "create" not in self.verbs

    def __hash__(self) -> int:
        return hash(self.name)


class Resources:
    """All resources, by the name of the collection. `by_section` has those whose objects are sections, by the keyword of the section."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        self.by_name: dict[str, Resource] = {}
        known = {each.name for each in fields(Resource)}
        for name, row in table.items():
            members: dict[str, Any] = {
                "list_schema" if key == "list" else key: tuple(value) if isinstance(value, list) else value for key, value in row.items()
            }
            self.by_name[name] = Resource(name=name, **{key: value for key, value in members.items() if key in known})
        self.by_section = {resource.section: resource for resource in self.by_name.values() if resource.section}

    def __getitem__(self, name: str) -> Resource:
        return self.by_name[name]

    @functools.cache  # noqa: B019 - one table lives as long as the program
    def children(self, parent: str) -> tuple[tuple[str, Resource], ...]:
        """Return (member, resource) of each collection inside a parent, in the order of the table."""
        return tuple(
            (member, resource)
            for resource in self.by_name.values()
            if parent in resource.parents and (member := resource.member_of(parent))
        )


@functools.cache
def resources() -> Resources:
    """Return the table of resources from the bundle."""
    return Resources(bundle()["x-resources"])


KINDS: Mapping[str, type[NativeError]] = {
    "bad_request": BadRequest,
    "missing_parent": NoParent,
    "not_found": NotFound,
    "not_there": Missing,
    "out_of_range": IndexOutOfRange,
    "taken": Exists,
}

# For each situation of a missing child: the corresponding situation of a missing parent, and the action.
ORPHANS = {"absent": "orphan_get", "absent_replace": "orphan_replace", "absent_delete": "orphan_delete"}
ACTIONS = {"absent": "get", "absent_replace": "replace", "absent_delete": "delete"}


def parent_word(parent: Resource) -> str:
    """Return the word that messages use for the kind of a parent."""
    return str(parent.messages.get("word", parent.section))


def parent_label(parent: tuple[Resource, str]) -> str:
    return f"{parent_word(parent[0])} {parent[1]}" if parent[0].kind == "section" else parent_word(parent[0])


def absent_section(resource: Resource, name: str, situation: str = "absent", *, full: bool = False) -> NativeError:
    """Return the error for a missing section. `situation`: `absent` for a read, `absent_replace` or `absent_delete`.

    `full`: whether the request was for the section with its children.
    """
    title = resource.title if situation == "absent" else resource.section
    return _error(Missing, resource, _situations(situation, full=full), f"{title} {name} does not exist", name=name)


def taken_section(resource: Resource, name: str, *, full: bool = False) -> NativeError:
    return _error(Exists, resource, _situations("taken", full=full), f"{resource.section} {name} already exists", name=name)


def _situations(situation: str, *, full: bool) -> tuple[str, ...]:
    return (f"{situation}_full", situation) if full else (situation,)


def absent_child(resource: Resource, parent: tuple[Resource, str], key: str | int, situation: str = "absent") -> NativeError:
    if resource.kind == "indexed":
        default = f"Object {key} does not exist in {parent_label(parent)}"
    else:
        default = f"{resource.title} {key} does not exist in {parent[1]} {parent_word(parent[0])}"
    return _error(Missing, resource, (situation, "absent"), default, name=key, index=key, parent=parent[1], word=parent_word(parent[0]))


def absent_parent(resource: Resource, parent: tuple[Resource, str], situation: str = "orphan") -> NativeError:
    """Return the error for a missing parent.

    `situation`: `orphan_list`, `orphan_create`, `orphan` for any other request, or a value of ORPHANS for a request for one child.
    """
    situations = (situation, "orphan_one", "orphan") if situation in ORPHANS.values() else (situation, "orphan")
    default = f"{parent_word(parent[0])} {parent[1]} does not exist"
    return _error(NoParent, resource, situations, default, parent=parent[1], word=parent_word(parent[0]))


def reports_missing_parent(resource: Resource, situation: str) -> bool:
    """Return whether a request for a child reports that its parent is missing. If not, the request reports that the child is missing."""
    return resource.kind == "indexed" or ACTIONS[situation] in resource.parent_needed


def lists_without_parent(resource: Resource) -> bool:
    """Return whether a request for a list returns an empty list if the parent is missing. If not, the request gets an error."""
    return "list" not in resource.parent_needed


def message(resource: Resource, situation: str, default: str, **values: object) -> str:
    template = resource.messages.get(situation)
    return template.format(**values) if isinstance(template, str) else default


def _error(kind: type[NativeError], resource: Resource, situations: tuple[str, ...], default: str, **values: object) -> NativeError:
    text = next((resource.messages[situation] for situation in situations if situation in resource.messages), default)
    if isinstance(text, Mapping):
        ((name, text),) = text.items()
        kind = KINDS[name]
    return kind(text.format(**values) if text is not default else default)
