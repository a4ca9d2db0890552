"""What a change does to objects, one by one: rights are checked against it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.header import under_head_of
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.shape_file import parted
from haproxy_native.errors import NativeError
from haproxy_native.planning.effects import LINES, Effect, effects, is_expressible, kind_of, section_object, with_effects
from haproxy_native.planning.section_order import Key
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY, Section, split_lines

CREATE, CHANGE, DELETE = "create", "change", "delete"
# What stands above the first section, and the order of sections.
RAW = "raw"
# Stands for members that are not known one by one.
ANY = "*"
_QUOTING = frozenset("\"'\\")


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


def touches(editor: Editor, found: Iterable[Effect]) -> list[Touch]:
    """In the order of the effects; what stands in a section that comes or goes is touched itself."""
    return _merged(touch for effect in found for touch in _of(editor, effect))


def all_touches(editor: Editor, before: Document, new: Document) -> list[Touch]:
    """Those of the effects, and what no effect shows: the text is compared with the one that the effects make of the text before.

    Conditions, comments, twins and the order of lines are `lines` of their section; what stands above all sections, and the order of these,
    is the object RAW.
    """
    before = parted(before)[0]
    new = under_head_of(parted(new)[0], before)
    found = effects(editor, before, new)
    return _merged([*(touch for effect in found for touch in _of(editor, effect)), *_unshown(editor, before, new, found)])


def _merged(found: Iterable[Touch]) -> list[Touch]:
    members: dict[tuple[str, str], set[str]] = {}
    for touch in found:
        members.setdefault((touch.object, touch.verb), set()).update(touch.members)
    return [Touch(object_, verb, frozenset(each)) for (object_, verb), each in members.items()]


def _unshown(editor: Editor, before: Document, new: Document, found: Sequence[Effect]) -> Iterator[Touch]:
    try:
        shown = with_effects(editor, before, [effect for effect in found if is_expressible(effect)])
    except NativeError:
        shown = before
    if _frame(shown) != _frame(new) or _common_order(before, new) != _common_order(new, before):
        yield Touch(RAW, CHANGE)
    # Whose lines are touched as a whole.
    named = {_section_of(effect) for effect in found if _is_about_lines(effect)}
    old, now, expected = (_by_key(document) for document in (before, new, shown))
    for key in dict.fromkeys([*now, *expected]):
        ours, theirs = now.get(key, []), expected.get(key, [])
        if key in named or ours == theirs or list(map(_words, ours)) == list(map(_words, theirs)):
            continue
        verb = CREATE if key not in old else CHANGE if key in now else DELETE
        yield Touch(section_object(editor, *key), verb, frozenset((LINES,)))


def _is_about_lines(effect: Effect) -> bool:
    return effect.member == LINES if effect.member else LINES in (effect.new or effect.old or ())


def _section_of(effect: Effect) -> Key:
    resource, name = effect.place.parent or (effect.place.resource, str(effect.place.key))
    return resource.section, name


def _named_sections(document: Document) -> Iterator[tuple[Key, Section]]:
    for name, section in zip(document.names(), document.sections, strict=True):
        if section.kind != BOUNDARY:
            yield (section.kind, name), section


def _by_key(document: Document) -> dict[Key, list[Section]]:
    """Documents share the sections that are the same, so that few are compared by their text."""
    found: dict[Key, list[Section]] = {}
    for key, section in _named_sections(document):
        found.setdefault(key, []).append(section)
    return found


def _common_order(document: Document, other: Document) -> list[tuple[Key, str | None]]:
    """The sections that both have, and the file of each."""
    both = {key for key, _ in _named_sections(other)}
    return [(key, section.file) for key, section in _named_sections(document) if key in both]


def _frame(document: Document) -> list[list[str]]:
    return [_written(document.preamble), *(_written(section.text) for section in document.sections if section.kind == BOUNDARY)]


def _words(section: Section) -> list[str]:
    return _written(section.lead + section.text)


def _written(text: str) -> list[str]:
    """Lines without what is between words and means nothing."""
    return [" ".join(line.split()) if _QUOTING.isdisjoint(line) else line.strip() for line in split_lines(text) if line.strip()]


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
