"""The table of resources from the bundle: for each collection of the API its place in the file, and the words of its errors.

A text about missing and existing objects stands alone, or with the kind of its error where the reference departs from the rule:
`{not_found: not found}`.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.errors import BadRequest, Exists, IndexOutOfRange, Missing, NativeError, NoParent, NotFound
from haproxy_native.grammar.load import bundle


@dataclass(frozen=True)
class Resource:
    """One collection. `kind` is section, named, indexed or singleton; `key` the member that addresses one of it, `parent_parameter`
    the parameter that names where it stands.

    `existence_first`: the actions before which the object, or for create its parent, is looked up, ahead of the version and of the body.
    `parent_needed`: the actions that are refused for a missing parent; else its list is empty, and one object of it is missing.
    `file`: what has such sections, where it is not the configuration. `silent`: a change that waits for a reload is answered without a
    body. `write_only`: members that are written, but never shown; one that is absent stays. `fallback`: the member of a frontend that names
    the backend for whatever no rule sends elsewhere. `verbs`: the actions, where they are not all those of the kind.
    """

    name: str
    kind: str
    schema: str
    title: str
    file: str = ""
    section: str = ""
    key: str = "name"
    list_schema: str = ""
    parents: tuple[str, ...] = ()
    member: str | Mapping[str, str] = ""
    parent_parameter: str = ""
    full_section: bool = False
    silent: bool = False
    write_only: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    existence_first: tuple[str, ...] = ()
    parent_needed: tuple[str, ...] = ()
    fallback: str = ""
    messages: Mapping[str, Any] = field(default_factory=dict)

    def member_of(self, parent: str) -> str:
        """The member of a parent's object that embeds this collection; empty where none does."""
        return self.member.get(parent, "") if isinstance(self.member, Mapping) else self.member

    @property
    def is_implied(self) -> bool:
        """Whether HAProxy has the section, with nothing in it, where the file does not: nobody can create it."""
        return self.kind == "singleton" and bool(self.verbs) and "create" not in self.verbs

    def __hash__(self) -> int:
        return hash(self.name)


class Resources:
    """All of them, by collection name; those whose objects are sections also by the kind of section."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]]) -> None:
        self.by_name = {name: _resource(name, row) for name, row in table.items()}
        self.by_section = {resource.section: resource for resource in self.by_name.values() if resource.section}

    def __getitem__(self, name: str) -> Resource:
        return self.by_name[name]

    @functools.cache  # noqa: B019 - one table lives as long as the program
    def children(self, parent: str) -> tuple[tuple[str, Resource], ...]:
        """(member, resource) of each collection that stands inside a parent, in the order of the table."""
        return tuple(
            (member, resource)
            for resource in self.by_name.values()
            if parent in resource.parents and (member := resource.member_of(parent))
        )


def _resource(name: str, row: Mapping[str, Any]) -> Resource:
    known = {
        key: row[key]
        for key in (
            *("kind", "schema", "title", "file", "section", "key", "member", "parent_parameter"),
            *("full_section", "silent", "fallback", "messages"),
        )
        if key in row
    }
    return Resource(
        name=name,
        list_schema=row.get("list", ""),
        parents=tuple(row.get("parents", ())),
        write_only=tuple(row.get("write_only", ())),
        verbs=tuple(row.get("verbs", ())),
        existence_first=tuple(row.get("existence_first", ())),
        parent_needed=tuple(row.get("parent_needed", ())),
        **known,
    )


@functools.cache
def resources() -> Resources:
    """The table of the shipped bundle."""
    return Resources(bundle()["x-resources"])


KINDS: Mapping[str, type[NativeError]] = {
    "bad_request": BadRequest,
    "missing_parent": NoParent,
    "not_found": NotFound,
    "not_there": Missing,
    "out_of_range": IndexOutOfRange,
    "taken": Exists,
}

# How a missing parent is reported where a child was to be read, replaced or deleted.
ORPHANS = {"absent": "orphan_get", "absent_replace": "orphan_replace", "absent_delete": "orphan_delete"}
ACTIONS = {"absent": "get", "absent_replace": "replace", "absent_delete": "delete"}


def word_of(parent: Resource) -> str:
    """What a parent's kind is called in messages."""
    return str(parent.messages.get("word", parent.section))


def inside(parent: tuple[Resource, str]) -> str:
    return f"{word_of(parent[0])} {parent[1]}" if parent[0].kind == "section" else word_of(parent[0])


def absent_section(resource: Resource, name: str, situation: str = "absent", *, full: bool = False) -> NativeError:
    """`situation` is absent for reads, else absent_replace or absent_delete; with `_full` where the whole section was meant."""
    title = resource.title if situation == "absent" else resource.section
    return _error(Missing, resource, _situations(situation, full=full), f"{title} {name} does not exist", name=name)


def taken_section(resource: Resource, name: str, *, full: bool = False) -> NativeError:
    return _error(Exists, resource, _situations("taken", full=full), f"{resource.section} {name} already exists", name=name)


def _situations(situation: str, *, full: bool) -> tuple[str, ...]:
    return (f"{situation}_full", situation) if full else (situation,)


def absent_child(resource: Resource, parent: tuple[Resource, str], key: str | int, situation: str = "absent") -> NativeError:
    if resource.kind == "indexed":
        default = f"Object {key} does not exist in {inside(parent)}"
    else:
        default = f"{resource.title} {key} does not exist in {parent[1]} {word_of(parent[0])}"
    return _error(Missing, resource, (situation, "absent"), default, name=key, index=key, parent=parent[1], word=word_of(parent[0]))


def absent_parent(resource: Resource, parent: tuple[Resource, str], situation: str = "orphan") -> NativeError:
    """`situation` is orphan_list or orphan_create, or one of ORPHANS where one child was meant."""
    situations = (situation, "orphan_one", "orphan") if situation in ORPHANS.values() else (situation, "orphan")
    default = f"{word_of(parent[0])} {parent[1]} does not exist"
    return _error(NoParent, resource, situations, default, parent=parent[1], word=word_of(parent[0]))


def tells_orphans(resource: Resource, situation: str) -> bool:
    """Whether a child of a parent that does not exist is an error about the parent."""
    return resource.kind == "indexed" or ACTIONS[situation] in resource.parent_needed


def lists_orphans(resource: Resource) -> bool:
    """Whether the children of a parent that does not exist are an empty list."""
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
