"""What a change does to objects, one by one: rights are checked against it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.resources import Resource
from haproxy_native.planning.effects import Effect, kind_of

CREATE, CHANGE, DELETE = "create", "change", "delete"
# Stands for members that are not known one by one.
ANY = "*"


@dataclass(frozen=True)
class Touch:
    """What is done to one object: `verb` is one of CREATE, CHANGE and DELETE, `members` are those that it touches.

    Of an object that is created or deleted they are all that it has, besides its name.
    """

    object: str
    verb: str
    members: frozenset[str] = frozenset()


def changed(object_: str, members: Iterable[str]) -> Touch:
    """Members of one object."""
    return Touch(object_, CHANGE, frozenset(members))


def touches(editor: Editor, effects: Iterable[Effect]) -> list[Touch]:
    """In the order of the effects; what stands in a section that comes or goes is touched itself."""
    found: dict[tuple[str, str], set[str]] = {}
    for effect in effects:
        for touch in _of(editor, effect):
            found.setdefault((touch.object, touch.verb), set()).update(touch.members)
    return [Touch(object_, verb, frozenset(members)) for (object_, verb), members in found.items()]


def _of(editor: Editor, effect: Effect) -> Iterator[Touch]:
    resource, verb = effect.place.resource, _verb(effect.old, effect.new)
    if effect.member:
        # A section of which nothing but its text is known comes and goes as its lines do.
        is_all = effect.place.parent is None and resource.name not in editor.resources.by_name
        yield Touch(effect.object, verb if is_all else CHANGE, frozenset((effect.member,)))
        return
    value = effect.new if effect.old is None else effect.old
    children = dict(editor.resources.children(resource.name)) if effect.place.parent is None else {}
    yield Touch(effect.object, verb, frozenset(value) - {resource.key, *children})
    for member, child in children.items():
        for key, row in _rows(child, value.get(member)):
            yield Touch(f"{effect.object}/{spelled(kind_of(child), key)}", verb, frozenset(row) - {child.key})


def _verb(old: Any, new: Any) -> str:
    if old is None:
        return CREATE
    return DELETE if new is None else CHANGE


def _rows(child: Resource, rows: Mapping[str, Any] | Sequence[Any] | None) -> Iterator[tuple[str | int, Mapping[str, Any]]]:
    if isinstance(rows, Mapping):
        yield from rows.items()
        return
    for position, row in enumerate(rows or ()):
        yield (str(row[child.key]) if child.kind == "named" and child.key in row else position), row
