"""Rebase a change onto a newer version of the configuration, and keep the changes made since.

A merge compares three documents: the one that the change was made on (`base`), the result of the change (`mine`), and the newer one
(`theirs`). It compares them by object and member (native/haproxy_native/planning/effects.py). Changes of only one side go into the result.
A member that both sides have changed to different values is a clash, and any clash refuses the whole change.

A section that only one side has changed is taken from that side unchanged. A section that both have changed is merged by lines, if the
result has exactly the effects of the change. Otherwise the effects are applied to the newer section, if the change does nothing else to the
section. If neither works, the lines clash: the change affects comments or unknown keywords next to other edits, or the section has
conditions.

- Lists without names, the order of sections, and the text above the first section are merged like lines. If both sides add an element at
  the same place, the element of the newer document comes first.
- A value that an operation states is compared even if the operation does not change it: the members of a Patch, the list of a ReplaceAll,
  and the existence of a replaced object.
- Parents, defaults and referenced objects are not compared: `haproxy -c` checks the result.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from haproxy_native.changes.operations import Edit, Patch, Replace, ReplaceAll, apply_all
from haproxy_native.editing import patches
from haproxy_native.editing.editor import Editor, Object, standard_editor
from haproxy_native.editing.header import with_header_and_banner_of
from haproxy_native.editing.object_names import ObjectPlace, name_of
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.secrets import masked_member
from haproxy_native.errors import Clash, Collided, Diverged, NativeError
from haproxy_native.planning.effects import LINES, Effect, complete_object, effects, row_effects, with_effects
from haproxy_native.planning.section_order import Key
from haproxy_native.planning.touches import RAW
from haproxy_native.text.document import REPEATABLE, Document
from haproxy_native.text.line_diff import Collision, merged
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, CONDITIONALS, Section

Item = TypeVar("Item", bound=Hashable)


def rebase_operations(operations: Sequence[Edit], base: Document, newer: Document, result: Document | None = None) -> Document:
    """Return the document `newer` after operations that were made on `base`.

    `result`: `base` after the operations, if that is known. Raises Collided if both sides have changed the same member, and what the
    operations raise.
    """
    mine = result or apply_all(operations, base)
    # An operation may have an editor of its own, such as one that writes times in another unit.
    editor = next((own for operation in operations if (own := getattr(operation, "editor", None))), standard_editor())
    merge = _Merge(editor, with_header_and_banner_of(base, newer), with_header_and_banner_of(mine, newer), newer)
    for operation in operations:
        merge.compare_stated(operation)
    document = merge.merged()
    if not merge.clashes:
        return document
    first, *others = merge.clashes.values()
    more = f", and {len(others)} more" if others else ""
    raise Collided(f"{_what(first)} was also changed by a later commit{more}", clashes=[first, *others])


def revert_change(current: Document, before: Document, after: Document) -> Document:
    """Return the configuration `current` without the change from `before` to `after`, and with all later changes.

    Raises Diverged if a later change concerns the same members.
    """
    after = patches.with_shared_sections(after, current)
    before = patches.with_shared_sections(with_header_and_banner_of(before, current), after)
    try:
        return rebase_operations([], after, current, before)
    except Collided as error:
        # Secrets are masked, as in everything that the history shows.
        clashes: list[Clash] = []
        for clash in error.clashes:
            values = (masked_member(value, clash.object, clash.member) for value in (clash.theirs, clash.mine, clash.before))
            clashes.append(Clash(clash.object, clash.member, *values))
        first = clashes[0]
        if first.member and not isinstance(first.theirs or first.before, list):
            text = f"{_what(first)} is {json.dumps(first.theirs)} by now, not {json.dumps(first.before)}"
        elif first.member or (first.theirs is None) == (first.before is None):
            text = f"{_what(first)} {'have' if first.member == LINES else 'has'} been changed since"
        else:
            text = f"{first.object} is {'deleted' if first.theirs is None else 'created'} since"
        more = f", and {len(clashes) - 1} more" if len(clashes) > 1 else ""
        raise Diverged(f"{text}{more}", clashes=clashes) from None


def _what(clash: Clash) -> str:
    return f"{clash.member} of {clash.object}" if clash.member else clash.object


@dataclass(frozen=True)
class _Merge:
    """Three documents, and the clashes found in them, by object and member."""

    editor: Editor
    base: Document
    mine: Document
    theirs: Document
    clashes: dict[tuple[str, str], Clash] = field(default_factory=dict)

    @property
    def _sides(self) -> tuple[Document, Document, Document]:
        return self.base, self.mine, self.theirs

    def merged(self) -> Document:
        """Return the newer document with the change. The result is valid only if `clashes` is empty afterwards."""
        base, mine, theirs = self._sides
        preamble = _merged_text(base.preamble, mine.preamble, theirs.preamble)
        every = {key: self._merge_sections(key) for key in dict.fromkeys([*mine.keys(), *theirs.keys(), *base.keys()])}
        found = {key: sections for key, sections in every.items() if sections}
        keys = _merged(*(list(filter(found.__contains__, document.keys())) for document in self._sides))
        if preamble is None or keys is None or Counter(keys) != {key: len(sections) for key, sections in found.items()}:
            self._clash_raw()
            return theirs
        sections, file = list[Section](), None
        for key in keys:
            section = found[key].pop(0)
            file = section.file if section.kind == BOUNDARY else file
            sections.append(section.in_file(file))
        come = set(mine.keys()).difference(base.keys(), theirs.keys())
        placed = list(enumerate(zip(keys, sections, strict=True)))
        document = Document(preamble, [section for _, (key, section) in placed if key not in come], theirs.leads)
        for place, (key, section) in placed:
            if key in come:
                at = mine.place(section)
                above = mine.sections[at - 1].text if at else mine.preamble
                document = document.insert_at(section, place, apart=above.endswith("\n\n"), closed=section.text.endswith("\n\n"))
        return document

    def _merge_sections(self, key: Key) -> list[Section]:
        """Return the merged sections with this kind and name: usually one section, or none if it is deleted."""
        base, mine, theirs = sides = [_sections(document, key) for document in self._sides]
        base_texts, my_texts, their_texts = ([(section.lead, section.text) for section in side] for side in sides)
        if my_texts in (base_texts, their_texts):
            return theirs
        if their_texts == base_texts:
            return mine
        if [len(side) for side in sides] == [1, 1, 1]:
            names = ([section.name for _, section in document.of_kind(key[0])] for document in self._sides)
            # If the number of such sections has changed, the number in the name may denote another section.
            is_renumbered = key[0] in REPEATABLE and len({of_side.count(mine[0].name) for of_side in names}) > 1
            if not is_renumbered:
                return [self._merge_section(key, base[0], mine[0], theirs[0])]
        if base and mine and theirs:
            self._clash(_place_of(self.editor, key), LINES)
            return theirs
        # Both sides have created the section, or one has deleted it and the other has changed it.
        document, (one, other) = self.base if base else self.mine, [side for side in sides if side]
        if len(one) != 1 or len(other) != 1 or self._effects(document, one[0], other[0]):
            self._clash(_place_of(self.editor, key))
        return [] if base else theirs

    def _merge_section(self, key: Key, base: Section, mine: Section, theirs: Section) -> Section:
        """Merge a section that both sides have changed. If they clash, add the clash and return the section of the newer document."""
        text, lead = _merged_text(base.text, mine.text, theirs.text), _merged_text(base.lead, mine.lead, theirs.lead)
        if base.kind == BOUNDARY:
            if text is None:
                self._clash_raw()
            return theirs.with_text(text or "")
        my_effects, their_effects = self._effects(self.base, base, mine), self._effects(self.base, base, theirs)
        remaining = self._remaining_effects(my_effects, their_effects)
        if remaining is None:
            return theirs
        if lead is not None and _conditions(base) == _conditions(mine):
            # An object that both sides have added would appear twice.
            if text is not None and _members(my_effects).isdisjoint(_members(their_effects)):
                made = theirs.with_text(text)
                if self._has_effects(remaining, theirs, made):
                    return made.with_lead(lead)
            with suppress(NativeError):
                if _lines(self._section_after(self.base, my_effects, key)) == _lines(mine):
                    made = self._section_after(self.theirs, remaining, key)
                    if self._has_effects(remaining, theirs, made):
                        return made.with_lead(lead)
        self._clash(_place_of(self.editor, key), LINES)
        return theirs

    def _effects(self, document: Document, one: Section, other: Section) -> Sequence[Effect]:
        """Return the effects of replacing the section `one` of a document by `other`."""
        return effects(document, document.replace(one, other))

    def _section_after(self, document: Document, effects_: Iterable[Effect], key: Key) -> Section:
        """Return the section with this key after the effects are applied to the document. Raises what `with_effects` raises."""
        return _sections(with_effects(self.editor, document, effects_), key)[0]

    def _has_effects(self, effects_: Iterable[Effect], theirs: Section, made: Section) -> bool:
        """Return whether `made` differs from the newer section `theirs` by exactly these effects. Positions in lists are ignored."""
        return _counted(self._effects(self.theirs, theirs, made)) == _counted(effects_)

    # -- effects

    def _remaining_effects(self, mine: Sequence[Effect], theirs: Sequence[Effect]) -> Sequence[Effect] | None:
        """Return the effects of the change (`mine`) that the newer section does not have yet; None if an effect clashes.

        `theirs`: the effects of the later changes. Adds each clash to `clashes`.
        """
        before, remaining = len(self.clashes), list[Effect]()
        by_object: dict[str, list[Effect]] = {}
        for effect in theirs:
            by_object.setdefault(effect.object, []).append(effect)
        for effect in mine:
            if effect.place.resource.kind == "indexed":
                continue
            same = [other for other in by_object.get(effect.object, ()) if other.member in (effect.member, "") or not effect.member]
            if not same:
                remaining.append(effect)
            elif (effect.member, effect.new) != (same[0].member, same[0].new):
                self._clash(effect.place, effect.member if effect.member == same[0].member else "")
        for place in dict.fromkeys(replace(effect.place, key="") for effect in mine if effect.place.resource.kind == "indexed"):
            rows = _merged(*([json.dumps(row) for row in self._rows(document, place)] for document in self._sides))
            if rows is None:
                self._clash_list(place)
            elif place.parent:
                newer = self._rows(self.theirs, place)
                remaining += row_effects(place.parent, place.resource, newer, [json.loads(row) for row in rows])
        return remaining if len(self.clashes) == before else None

    def compare_stated(self, operation: Edit) -> None:
        """Add a clash for each value that an operation states and that the newer document has changed.

        An operation may state a value without changing it.
        """
        if not isinstance(operation, Replace | Patch | ReplaceAll) or operation.place.resource.kind == "view":
            return
        place = operation.place
        if isinstance(operation, ReplaceAll) or place.resource.kind == "indexed":
            base, mine, theirs = (self._rows(document, place) for document in self._sides)
            if theirs not in (base, mine) and (base == mine or isinstance(operation, ReplaceAll)):
                self._clash_list(place)
            return
        before, my_object, their_object = (self._object(document, place) for document in self._sides)
        if their_object is None and before is not None and my_object is not None:
            self._clash(place)
        elif their_object is not None and before is not None:
            for member in operation.body if isinstance(operation, Patch) else ():
                if their_object.get(member) not in (before.get(member), (my_object or {}).get(member)):
                    self._clash(place, member)

    # -- clashes

    def _object(self, document: Document, place: ObjectPlace) -> Object | None:
        with suppress(NativeError):
            return self.editor.get_object(document, place.resource, place.parent, place.key)
        return None

    def _rows(self, document: Document, place: ObjectPlace) -> list[Object]:
        """Return each element of a list as an object."""
        section = place.parent and self.editor.section(document, *place.parent)
        return self.editor.lines.children(section, place.resource).readable if section else []

    def _clash(self, place: ObjectPlace, member: str = "") -> None:
        """Add a clash of an object's member. `member` is LINES for the lines of a section, and empty for the whole object."""
        values: list[Any] = []
        for document in self._sides:
            sections = [] if place.parent else _sections(document, (place.resource.section, str(place.key)))
            if member == LINES or (sections and place.resource.name not in self.editor.resources.by_name):
                values.append([line for section in sections for line in _lines(section)] or None)
            elif place.parent or member:
                object_ = self._object(document, place)
                values.append(object_.get(member) if object_ and member else object_)
            else:
                values.append(complete_object(place, sections[0] if sections else None))
        before, mine, theirs = values
        if member == LINES:
            mine, theirs = ([line for line in side or () if line not in (before or ())] or None for side in (mine, theirs))
        self.clashes.setdefault((name_of(place), member), Clash(name_of(place), member, theirs, mine, before))

    def _clash_list(self, place: ObjectPlace) -> None:
        assert place.parent is not None
        parent, name = place.parent
        object_, member = name_of(ObjectPlace(parent, None, name)), place.resource.member_of(parent.name)
        base, mine, theirs = (self._rows(document, place) for document in self._sides)
        self.clashes.setdefault((object_, member), Clash(object_, member, theirs, mine, base))

    def _clash_raw(self) -> None:
        """Add a clash of the order of sections, or of the text above the first section."""
        self.clashes.setdefault((RAW, ""), Clash(RAW, "", None, None))


def _place_of(editor: Editor, key: Key) -> ObjectPlace:
    """Return the place of a section. If the API does not know its kind, the resource of the place is made up."""
    kind, name = key
    known = (each for each in editor.resources.by_name.values() if each.section == kind and not each.file and not each.parents)
    resource = next((each for each in known if each.kind != "view"), Resource(kind, "section", kind, kind, section=kind))
    return ObjectPlace(resource, None, "" if resource.kind == "singleton" else name)


def _sections(document: Document, key: Key) -> list[Section]:
    """Return all sections with this kind and name."""
    if key in document.repeated():
        return [section for own, section in zip(document.keys(), document.sections, strict=True) if own == key]
    section = document.find(*key)
    return [section] if section else []


def _members(found: Iterable[Effect]) -> set[tuple[str, str]]:
    return {(effect.object, effect.member) for effect in found if effect.place.resource.kind != "indexed"}


def _counted(found: Iterable[Effect]) -> Counter[str]:
    """Count effects in a form that can be compared. An element of a list is identified by its content, not by its position."""
    rows = ((effect.place.resource.name if effect.place.resource.kind == "indexed" else effect.object, effect) for effect in found)
    return Counter(json.dumps({**effect.as_dict(), "object": object_}, sort_keys=True) for object_, effect in rows)


def _lines(section: Section) -> list[str]:
    return [line.strip() for line in split_lines(section.lead + section.text) if line.strip()]


def _conditions(section: Section) -> list[str]:
    return [line for line in _lines(section) if line.startswith(CONDITIONALS)]


def _merged_text(base: str, mine: str, theirs: str) -> str | None:
    lines = _merged(*(split_lines(text) for text in (base, mine, theirs)))
    return None if lines is None else "".join(lines)


def _merged(base: Sequence[Item], mine: Sequence[Item], theirs: Sequence[Item]) -> list[Item] | None:
    """Return `base` with the changes of both sides; None if the changes overlap."""
    with suppress(Collision):
        return merged(base, mine, theirs, both=True)
    return None
