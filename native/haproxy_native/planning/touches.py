"""What a change does to objects, one by one: rights are checked against it. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.header import with_header_and_banner_of
from haproxy_native.editing.object_names import kind_of, object_of_section, spelled
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.planning.effects import LINES, Effect, effects, is_expressible, with_effects
from haproxy_native.planning.expressions import has_new
from haproxy_native.planning.section_order import Key
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, Section

Sections = list[tuple[Key, Section]]
CREATE, CHANGE, DELETE = "create", "change", "delete"
# What stands above the first section, and the order of sections.
RAW = "raw"
# Stands for members that are not known one by one.
ANY = "*"
# First words: with quotes, or of a condition; with a variable.
_SUSPECT = re.compile(r"^[^\S\n]*(?:[\"'\\.]|[^\s#]*\$)", re.MULTILINE)
_VARIABLE = re.compile(r"\s*(?:[\"'\\].*\$|[^\s#]*\$)")
_QUOTING = frozenset("\"'\\")


@dataclass(frozen=True)
class Touch:
    """What is done to one object: `verb` is one of CREATE, CHANGE and DELETE, `members` are those that it touches.

    Of an object that is created or deleted they are all that it has, besides its name.
    """

    object: str
    verb: str
    members: frozenset[str] = frozenset()


# What a change touches besides, when it adds a value that reaches further than the object that has it (expressions.py).
EXPRESSIONS = Touch("global/expressions", CHANGE, frozenset((ANY,)))


def changed(object_: str, members: Iterable[str]) -> Touch:
    """Members of one object."""
    return Touch(object_, CHANGE, frozenset(members))


def touches(editor: Editor, found: Iterable[Effect]) -> list[Touch]:
    """Returns the touches in the order of the effects; objects in a section that is created or deleted are touched themselves."""
    return _merged(touch for effect in _paired(found) for touch in _of(editor, effect))


def all_touches(editor: Editor, before: Document, new: Document, known: Sequence[Effect] | None = None) -> list[Touch]:
    """Returns the touches of the effects, and of what no effect shows, found by comparing the text with the one that the effects produce.
    `known`: the effects, where they have been computed.

    Conditions, comments, twins and the order of lines are `lines` of their section; what stands above all sections, their order, and what
    reaches from one into the next, is the object RAW. A new value that reaches further than its object is EXPRESSIONS.
    """
    new = with_header_and_banner_of(new, before)
    all_effects = effects(editor, before, new) if known is None else known
    return _merged(
        [
            *(touch for effect in _paired(all_effects) for touch in _of(editor, effect)),
            *_unshown(editor, before, new, all_effects),
            *_expressions(before, new),
        ]
    )


def _expressions(before: Document, new: Document) -> list[Touch]:
    sides = zip((before, new), _differing(before, new), strict=True)
    was, becomes = ([document.preamble, *(section.text for _, section in sections)] for document, sections in sides)
    return [EXPRESSIONS] if has_new(was, becomes) else []


def is_shown(editor: Editor, before: Document, new: Document, found: Sequence[Effect]) -> bool:
    """Whether its effects are all that a change does."""
    return not any(_unshown(editor, before, with_header_and_banner_of(new, before), found))


def _paired(found: Iterable[Effect]) -> Iterator[Effect]:
    """Yields the effects; a rule that replaces another at the same position counts as changed, with the members that differ."""
    effects_ = list(found)
    gone = {effect.object: effect for effect in effects_ if effect.new is None and isinstance(effect.place.key, int)}
    come = {effect.object: effect for effect in effects_ if effect.old is None and effect.object in gone}
    for effect in effects_:
        if effect.object not in come:
            yield effect
        elif effect is come[effect.object]:
            old, new = gone[effect.object].old, effect.new
            for member in dict.fromkeys([*old, *new]):
                if old.get(member) != new.get(member):
                    yield replace(effect, member=member, old=old.get(member), new=new.get(member))


def _merged(found: Iterable[Touch]) -> list[Touch]:
    members: dict[tuple[str, str], set[str]] = {}
    for touch in found:
        members.setdefault((touch.object, touch.verb), set()).update(touch.members)
    return [Touch(object_, verb, frozenset(names)) for (object_, verb), names in members.items()]


def _unshown(editor: Editor, before: Document, new: Document, found: Sequence[Effect]) -> Iterator[Touch]:
    try:
        shown = with_effects(editor, before, [effect for effect in found if is_expressible(effect)])
    except NativeError:
        shown = before
    was, becomes = _differing(before, new)
    expected, now = _differing(shown, new)
    if _frame(shown, expected) != _frame(new, now) or _kept(was, becomes) != _kept(becomes, was):
        yield Touch(RAW, CHANGE)
    # Whose lines are touched as a whole.
    named = {_section_of(effect) for effect in found if _is_about_lines(effect)}
    theirs, ours = _by_key(expected), _by_key(now)
    for key in dict.fromkeys([*ours, *theirs]):
        if key not in named and list(map(_words, ours.get(key, ()))) != list(map(_words, theirs.get(key, ()))):
            verb = CREATE if before.find(*key) is None else CHANGE if key in ours else DELETE
            yield Touch(object_of_section(editor, *key), verb, frozenset((LINES,)))


def _is_about_lines(effect: Effect) -> bool:
    return effect.member == LINES if effect.member else LINES in (effect.new or effect.old or ())


def _section_of(effect: Effect) -> Key:
    resource, name = effect.place.parent or (effect.place.resource, str(effect.place.key))
    return resource.section, name


def _differing(one: Document, other: Document) -> tuple[Sections, Sections]:
    """Returns the sections that differ, including boundaries between files."""
    was, now = one.apart_from(other)
    return _named(one, was), _named(other, now)


def _named(document: Document, places: slice) -> Sections:
    return list(zip(document.keys()[places], document.sections[places], strict=True))


def _by_key(sections: Sections) -> dict[Key, list[Section]]:
    sections_: dict[Key, list[Section]] = {}
    for key, section in sections:
        if section.kind != BOUNDARY:
            sections_.setdefault(key, []).append(section)
    return sections_


def _kept(sections: Sections, others: Sections) -> list[tuple[Key, str | None, list[str]]]:
    """The sections that both have, and others that are not for themselves: the file of each, and how it reaches beyond itself."""
    both = {key for key, _ in others}
    rows = ((key, section.file, _reaching(section)) for key, section in sections)
    return [(key, file, reaching) for key, file, reaching in rows if key in both or reaching]


def _reaching(section: Section) -> list[str]:
    """Conditions that end in another section, and lines that may begin one: HAProxy expands variables in keywords, too."""
    if not _SUSPECT.search(section.text):
        return []
    open_ = [line.text.strip() for line in section.open_conditionals()]
    return open_ + [line.text.strip() for line in section.lines if _VARIABLE.match(line.text)]


def _frame(document: Document, sections: Sections) -> list[list[str]]:
    return [_written(document.preamble), *(_written(section.text) for _, section in sections if section.kind == BOUNDARY)]


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
