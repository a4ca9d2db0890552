"""Compute the effects of a change, which are the objects and members that it changes, and apply them to another document.

A change of comments or of the order of sections has no effects. Lines that no object can express appear as the member `lines` of their
section.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from haproxy_native.abandonment import check
from haproxy_native.editing.defaults_sections import DEFAULTS, all_implicit_defaults, implicit_defaults
from haproxy_native.editing.editor import Editor, Object, standard_editor
from haproxy_native.editing.object_names import ObjectPlace, kind_of, name_of, parsed, section_of_object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest, Diverged
from haproxy_native.planning.outcome import line_of
from haproxy_native.planning.section_order import Key
from haproxy_native.text.document import Document
from haproxy_native.text.line_diff import changes
from haproxy_native.text.pieces import apart
from haproxy_native.text.section import BOUNDARY, Section

LINES = "lines"
Pair = tuple[Section, Section]


@dataclass(frozen=True)
class Effect:
    """The change of one member of an object, or of a whole object."""

    # `kind/name`, or `kind/name/kind/name` for a child of a section. A rule without a name has its index: in the old text if it is
    # removed, in the new text if it is added.
    object: str
    # Empty for a whole object.
    member: str
    # None if the object or member does not exist before or after the change.
    old: Any
    new: Any
    place: ObjectPlace
    # The index of a named child that is added or removed.
    position: int = 0
    # The implicit defaults section of a proxy that is added or removed.
    source: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {"object": self.object, "member": self.member, "old": self.old, "new": self.new}


def differing(old: Section, new: Section) -> Pair:
    """Return both sections, reduced to the header and the lines that differ, so that their comparison is fast.

    If the headers differ, or if there are snippets, return the sections themselves. If the texts are equal, return the old section twice.
    """
    removed, added = old.apart_from(new)
    if removed.start == removed.stop and added.start == added.stop:
        return old, old
    if removed.start == 0 or old.snippets:
        return old, new
    parts = old.part(removed), new.part(added)
    return (old, new) if parts[1].snippets else parts


def effects(before: Document, new: Document) -> tuple[Effect, ...]:
    """Return the effects of the change from one document to another, in the order of the table of resources."""
    return tuple(_Comparison(before, new).found())


class _Comparison:
    def __init__(self, before: Document, new: Document) -> None:
        self._editor, self._before, self._new = standard_editor(), before, new
        self._resources = [
            resource
            for resource in self._editor.resources.by_name.values()
            if resource.section and not resource.file and not resource.parents
        ]

    def found(self) -> Iterator[Effect]:
        keys = self._differing_keys()
        kinds = {kind for kind, _ in keys}
        known = {resource.section for resource in self._resources}
        repeated = self._before.repeated() | self._new.repeated()
        # Several sections of such a kind are read as one.
        merged = {resource.section for resource in self._resources if resource.kind == "singleton"}
        for resource in self._resources:
            if resource.section not in kinds:
                continue
            if resource.kind == "singleton":
                yield from self._section_effects(resource, "")
                continue
            for kind, name in keys:
                if kind == resource.section and (kind, name) not in repeated:
                    yield from self._section_effects(resource, name)
        for key in keys:
            if key[0] in known and (key not in repeated or key[0] in merged):
                continue
            old, new = (
                [section.text for own, section in zip(document.keys(), document.sections, strict=True) if own == key]
                for document in (self._before, self._new)
            )
            if old != new:
                resource = Resource(key[0], "section", key[0], key[0], section=key[0])
                yield _effect(ObjectPlace(resource, None, key[1]), LINES, old or None, new or None)

    def _differing_keys(self) -> list[Key]:
        """Return the keys of the sections that may differ, in file order. Section objects that both documents share are skipped."""
        places = self._before.apart_from(self._new)
        if self._before.keys()[places[0].stop :] != self._new.keys()[places[1].stop :]:
            # Sections without names are numbered, and their numbers have changed.
            places = slice(None), slice(None)
        old, new = (
            {(key, id(section)) for key, section in zip(document.keys()[place], document.sections[place], strict=True)}
            for document, place in zip((self._before, self._new), places, strict=True)
        )
        differing_keys = {key for key, _ in old ^ new if key[0] != BOUNDARY}
        if self._before.keys() != self._new.keys():
            # Add the proxies whose implicit defaults section has changed.
            sources = dict(zip(self._before.keys(), all_implicit_defaults(self._before), strict=True))
            new_sources = dict(zip(self._new.keys(), all_implicit_defaults(self._new), strict=True))
            differing_keys |= {key for key, source in sources.items() if key in new_sources and new_sources[key] != source}
        if len(differing_keys) == 1:
            return list(differing_keys)
        return [key for key in dict.fromkeys([*self._before.keys(), *self._new.keys()]) if key in differing_keys]

    def _section_effects(self, resource: Resource, name: str) -> Iterator[Effect]:
        check()
        old, new = (self._editor.section_or_implied(document, resource, name) for document in (self._before, self._new))
        # A proxy without `from` has an implicit defaults section.
        old_source = implicit_defaults(self._before, old) if old else None
        new_source = implicit_defaults(self._new, new) if new else None
        place = ObjectPlace(resource, None, name)
        if old is None or new is None:
            if old is not new:
                values = (complete_object(place, section) for section in (old, new))
            yield replace(_effect(place, "", *values), source=old_source or new_source)
            return
        parts = differing(old, new)
        is_same = parts[0] is parts[1]
        if is_same and old_source == new_source:
            return
        shape = self._editor.shape(resource)
        if is_same or old_source != new_source or parts[0] is old or any(shape.reading(part).lines for part in parts):
            before = self._editor.as_object(old, resource, name, old_source)
            yield from _member_effects(place, before, self._editor.as_object(new, resource, name, new_source))
        if is_same:
            return
        for _, child in self._editor.lines.kinds(resource.name, *parts):
            yield from self._child_effects((resource, name), child, (old, new), parts)
        if any(_unknown(resource, part) for part in parts):
            lines, others = _unknown(resource, old), _unknown(resource, new)
            if lines != others:
                yield _effect(place, LINES, lines, others)

    def _child_effects(self, parent: tuple[Resource, str], child: Resource, sections: Pair, parts: Pair) -> Iterator[Effect]:
        """Yield the effects on the children of one resource in two sections.

        Compares only the differing parts, unless indices or repeated names require a comparison of the whole sections.
        """
        lines = self._editor.lines
        before, after = (lines.children(part, child).readable for part in parts)
        if before == after:
            return
        if child.kind == "named" and lines.have_own_names(child, *sections, before, after):
            yield from _named_effects(parent, child, before, after, lambda: self._count_above(child, sections, before, after))
            return
        before, after = (lines.children(section, child).readable for section in sections)
        if child.kind == "indexed":
            yield from row_effects(parent, child, before, after)
        else:
            yield from _named_effects(parent, child, before, after)

    def _count_above(self, child: Resource, sections: Pair, before: Sequence[Object], after: Sequence[Object]) -> int:
        """Return the number of children above the first child that differs."""
        section, first = (sections[0], before[0]) if before else (sections[1], after[0])
        rows = self._editor.lines.children(section, child).readable
        return next(number for number, row in enumerate(rows) if row[child.key] == first[child.key])


def complete_object(place: ObjectPlace, section: Section | None) -> Object | None:
    """Return a section as an object with its children and unknown lines; None if there is no section.

    The editor can create the section again from the object, unless it has unknown lines.
    """
    if section is None:
        return None
    unknown = _unknown(place.resource, section)
    members = standard_editor().as_object(section, place.resource, str(place.key), None, full=True)
    return {**members, LINES: unknown} if unknown else members


def _unknown(resource: Resource, section: Section) -> list[str]:
    return [section.lines[place].text.strip() for place in standard_editor().unknown(section, resource)]


def _named_effects(
    parent: tuple[Resource, str], child: Resource, before: Sequence[Object], after: Sequence[Object], above: Callable[[], int] = lambda: 0
) -> Iterator[Effect]:
    """Yield the effects that turn the named children `before` into `after`. `above`: returns the number of children above both lists."""
    start: int | None = None
    old, new = ({str(row[child.key]): (number, row) for number, row in reversed(list(enumerate(rows)))} for rows in (before, after))
    for name in dict.fromkeys([*(str(row[child.key]) for row in before), *(str(row[child.key]) for row in after)]):
        place = ObjectPlace(child, parent, name)
        if name in old and name in new:
            yield from _member_effects(place, old[name][1], new[name][1])
        else:
            start = above() if start is None else start
            position, row = old.get(name) or new[name]
            yield replace(_effect(place, "", row if name in old else None, row if name in new else None), position=start + position)


def row_effects(parent: tuple[Resource, str], child: Resource, before: Sequence[Object], after: Sequence[Object]) -> Iterator[Effect]:
    """Yield the effects that turn the list `before` of objects without names into `after`."""
    places = apart(before, after)
    first = places[0].start
    old, new = ([json.dumps(row, sort_keys=True) for row in rows[own]] for rows, own in zip((before, after), places, strict=True))
    for removed, added in changes(old, new):
        yield from (_effect(ObjectPlace(child, parent, first + place), "", before[first + place], None) for place in range(*removed))
        yield from (_effect(ObjectPlace(child, parent, first + place), "", None, after[first + place]) for place in range(*added))


def _member_effects(place: ObjectPlace, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Effect]:
    for member in dict.fromkeys([*old, *new]):
        if old.get(member) != new.get(member):
            yield _effect(place, member, old.get(member), new.get(member))


def _effect(place: ObjectPlace, member: str, old: Any, new: Any) -> Effect:
    return Effect(name_of(place), member, old, new, place)


def is_expressible(effect: Effect) -> bool:
    """Return whether the editor can apply an effect. It cannot change lines that no member expresses, or sections without a name."""
    if effect.member:
        return effect.member != LINES
    return LINES not in (effect.old or effect.new or ()) and (not _is_section(effect) or bool(effect.place.key))


def with_effects(editor: Editor, document: Document, to_apply: Iterable[Effect]) -> Document:
    """Apply effects to a document, and return the result. The document must have the old values of the effects.

    Raises Diverged if the editor cannot apply an effect (`is_expressible`), and the errors of the editor.
    """
    ordered = list(to_apply)
    for effect in ordered:
        if not is_expressible(effect):
            raise Diverged(f"{effect.object} has no name, or has lines that no object can express")
    added = [effect for effect in ordered if _is_section(effect) and effect.old is None]
    removed = [effect for effect in ordered if _is_section(effect) and effect.new is None]
    inside = [effect for effect in ordered if not _is_section(effect)]
    # Proxies may use defaults sections implicitly: delete proxies first and defaults sections last.
    for effect in removed:
        if effect.place.resource.section != DEFAULTS:
            document = _delete(editor, document, effect)
    for effect in sorted(added, key=lambda effect: effect.place.resource.section != DEFAULTS):
        document = _create(editor, document, effect)
    for _, in_collection in groupby(inside, lambda effect: (effect.place.resource.name, effect.place.parent)):
        group = list(in_collection)
        values: dict[str | int, dict[str, Any]] = {}
        for effect in (effect for effect in group if effect.member):
            values.setdefault(effect.place.key, {})[effect.member] = effect.new
        if values:
            place = group[0].place
            document = editor.set_members(document, place.resource, place.parent, values)
        whole = sorted((effect for effect in group if not effect.member), key=_position)
        # A list that would be empty for a moment would be created again at the end of the section, below lines of other kinds.
        for old, new in _replaced(whole):
            document = editor.replace(document, new.place.resource, new.place.parent, new.place.key, new.new, full=True)
            whole = [effect for effect in whole if effect is not old and effect is not new]
        for effect in reversed([effect for effect in whole if effect.new is None]):
            document = _delete(editor, document, effect)
        for effect in (effect for effect in whole if effect.old is None):
            document = _create(editor, document, effect)
    for effect in removed:
        if effect.place.resource.section == DEFAULTS:
            document = _delete(editor, document, effect)
    return document


def _replaced(whole: Sequence[Effect]) -> Iterator[tuple[Effect, Effect]]:
    """Yield (removal, creation) for each row that is replaced by another row between the same rows.

    `whole`: the removals and creations in one list, by position.
    """
    removed = [effect for effect in whole if effect.new is None and isinstance(effect.place.key, int)]
    added = {effect.place.key: (number, effect) for number, effect in enumerate(effect for effect in whole if effect.old is None)}
    for number, effect in enumerate(removed):
        created = added.get(effect.place.key)
        # The index of a removal counts the rows before the change, that of a creation the rows after it.
        if created and created[0] == number:
            yield effect, created[1]


def _is_section(effect: Effect) -> bool:
    return effect.place.parent is None and not effect.member


def _position(effect: Effect) -> int:
    return effect.place.key if isinstance(effect.place.key, int) else effect.position


def _delete(editor: Editor, document: Document, effect: Effect) -> Document:
    return editor.delete(document, effect.place.resource, effect.place.parent, effect.place.key)


def _create(editor: Editor, document: Document, effect: Effect) -> Document:
    place = effect.place
    if place.parent is None:
        created = editor.create(document, place.resource, None, effect.new, full=True)
        section = editor.section(created, place.resource, str(place.key))
        if effect.source is None or section is None or implicit_defaults(created, section) == effect.source:
            return created
        return editor.create(document, place.resource, None, {**effect.new, "from": effect.source}, full=True)
    rows = editor.list_objects(document, place.resource, place.parent)
    return editor.create(document, place.resource, place.parent, effect.new, index=min(_position(effect), len(rows)))


def line_of_member(document: Document, object_: str, member: str = "") -> int | None:
    """Return the line number of a member, counted from 1 in its file; None if the document does not have the member's section.

    If the member is empty or has no line, return the number of the first line of the object.
    """
    if (section := _find_section(document, object_)) is None:
        return None
    _, _, *child_name = parsed(object_) if "/" in object_ else (object_, "")
    resource = standard_editor().resources.by_section[section.kind]
    return line_of(document, section, _line_index(section, resource, child_name, member))


def file_of_object(document: Document, object_: str) -> str:
    """Return the name of the file that contains an object; empty for the main file."""
    section = _find_section(document, object_)
    return section.file or "" if section else ""


def _find_section(document: Document, object_: str) -> Section | None:
    try:
        return document.find(*section_of_object(standard_editor(), object_))
    except BadRequest:
        return None


def _line_index(section: Section, resource: Resource, child_name: list[str], member: str) -> int:
    """Return the index of the first line of a member or a child in the section; 0, which is the header, if there is no such line."""
    editor = standard_editor()
    children = dict(editor.resources.children(resource.name))
    if len(child_name) == 2:
        child = next((child for child in children.values() if kind_of(child) == child_name[0]), None)
        rows = editor.lines.children(section, child) if child else None
        named = zip(rows.places, rows.objects, strict=True) if rows else ()
        return next((place for place, row in named if child and row and str(row.get(child.key)) == child_name[1]), 0)
    if member in children:
        return next(iter(editor.lines.children(section, children[member]).places), 0)
    shape = editor.shape(resource)
    directives = ((shape.directives[number], lines) for number, lines in shape.reading(section).lines.items())
    own = (
        lines for directive, lines in directives if member and member in (directive.path[:1] or (*directive.shape.members, directive.rows))
    )
    return next((place for lines in own for place, _ in lines), 0)
