"""Errors about missing and existing objects, in the texts of the table of resources.

A text stands alone, or with the kind of its error where the reference departs from the rule: `{not_found: not found}`.
"""

from collections.abc import Mapping

from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest, Exists, IndexOutOfRange, Missing, NativeError, NoParent, NotFound

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
