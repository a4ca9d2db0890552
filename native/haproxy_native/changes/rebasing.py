"""Operations that were made on one configuration, made on a newer one: what came between stays. Pure.

Two documents are carried along: `mine` is the one that the operations were made on, as it is before each of them; `theirs` is the newer
one, with the operations so far. Each operation finds in `theirs` what it was made on in `mine`:

- an object with a name by its name. What the operation changes has to be the same in both: the members of an object that is changed, all
  of one that is deleted;
- a row of a list without names by what it says, wherever it stands now;
- the place of a new row between the rows that it was put between, or beside the one of them that is left. Without an index it goes to the
  end;
- a list that is replaced as a whole has to be the same in both;
- a text is taken apart: a section that is the same in both is replaced as it is, any other by its objects and members, and comments are
  merged by lines, and so are lines that the API does not know. Conditions need a section that is the same in both.

What `theirs` already has as the operation makes it is left out. Parents, defaults and objects that are referred to are not compared: the
check judges what becomes of them. Everything contested is collected, and raised at the end.
"""

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Any

from haproxy_native.changes.operations import Create, Delete, Edit, Patch, PutDocument, Replace, ReplaceAll
from haproxy_native.editing import patches
from haproxy_native.editing.editor import Editor, Object, standard_editor
from haproxy_native.editing.header import under_head_of
from haproxy_native.editing.places import Place, name_of
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.secrets import masked_member
from haproxy_native.errors import Clash, Collided, Diverged, NativeError
from haproxy_native.planning.effects import LINES, Effect, effects
from haproxy_native.planning.section_order import Key
from haproxy_native.planning.touches import RAW
from haproxy_native.text.document import Document
from haproxy_native.text.line_diff import changes
from haproxy_native.text.merge import Collision, merged
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, CONDITIONALS, Section

# What stands above the first section of a file, and the order of sections.
_FRAME = Place(Resource(RAW, "section", RAW, RAW), None, "")


def rebased(operations: Iterable[Edit], base: Document, newer: Document, known: Document | None = None) -> Document:
    """Return a newer document after operations that were made on `base`.

    `known`: what they made of it, if that is known. Operations of a former process may make something else by now; then the texts count.
    Raises Collided for what both sides have changed, and what the operations raise.
    """
    operations, editor = list(operations), standard_editor()
    try:
        states = list(accumulate(operations, lambda now, operation: operation.apply(now), initial=base))
    except (NativeError, ValueError):
        if known is None:
            raise
        states = [base]
    if known is not None and states[-1].text != known.text:
        operations, states = [PutDocument(known)], [base, known]
    merge = _Merge(base, newer, states[-1], [])
    theirs = newer
    for operation, mine, after in zip(operations, states, states[1:], strict=False):
        try:
            theirs = after if theirs is mine else _carried(merge, operation, mine, after, theirs)
        except NativeError:
            # It may build on what was left out.
            if not merge.contested:
                raise
    if contested := list(dict.fromkeys(merge.contested)):
        raise Collided(_text(contested), clashes=[each.clash(editor, merge) for each in contested])
    return theirs


def reverted(now: Document, before: Document, after: Document) -> Document:
    """Return a configuration without the change that made `after` of `before`: the inverse, made on what stands there now.

    Raises Diverged for what has changed since.
    """
    after = patches.sharing(after, now)
    before = patches.sharing(under_head_of(before, now), after)
    try:
        return rebased([PutDocument(before)], after, now)
    except Collided as error:
        first, *others = error.clashes
        more = f", and {len(others)} more" if others else ""
        # As everything that the history shows.
        raise Diverged(f"{_since(first)}{more}", clashes=[_masked(clash) for clash in error.clashes]) from None


def _masked(clash: Clash) -> Clash:
    theirs, mine = (masked_member(value, clash.object, clash.member) for value in (clash.theirs, clash.mine))
    return Clash(clash.object, clash.member, theirs, mine)


def _since(clash: Clash) -> str:
    if clash.member and not isinstance(clash.theirs or clash.before, list):
        there, expected = (json.dumps(masked_member(value, clash.object, clash.member)) for value in (clash.theirs, clash.before))
        return f"{clash.member} of {clash.object} is {there} by now, not {expected}"
    if clash.member or (clash.theirs is not None and clash.before is not None):
        return (
            f"{f'{clash.member} of ' if clash.member else ''}{clash.object} {'have' if clash.member == LINES else 'has'} been changed since"
        )
    return f"{clash.object} is {'not there any more' if clash.theirs is None else 'there by now'}"


@dataclass(frozen=True)
class _Merge:
    """All operations: the document that they were made on, the newer one, what they make together, and what of that is contested."""

    base: Document
    newer: Document
    goal: Document
    contested: "list[_Contested]"


@dataclass(frozen=True)
class _Contested:
    """What both sides have changed: a member of an object, the whole object without a member, or its children of one kind."""

    place: Place
    member: str = ""
    children: Resource | None = None

    def value(self, editor: Editor, document: Document) -> Any:
        if self.place is _FRAME:
            return document.preamble, [(key, section.file) for key, section in zip(document.keys(), document.sections, strict=True)]
        if self.member == LINES:
            texts = (section.lead + section.text for section in _sections(document, _key_of(self.place)))
            return [line for text in texts for line in _written(text)] or None
        if self.children:
            with suppress(NativeError):
                return editor.list_objects(document, self.children, (self.place.resource, str(self.place.key)))
            return None
        object_ = _object(editor, document, self.place, full=not self.member)
        return object_.get(self.member) if object_ and self.member else object_

    def clash(self, editor: Editor, merge: "_Merge") -> Clash:
        sides = (merge.base, merge.newer, merge.goal)
        before, there, here = (None if self.place is _FRAME else self.value(editor, document) for document in sides)
        if self.member == LINES:
            there, here = ([line for line in side or () if line not in (before or ())] or None for side in (there, here))
        return Clash(name_of(self.place), self.member, there, here, before)


def _text(contested: Sequence[_Contested]) -> str:
    object_, member = name_of(contested[0].place), contested[0].member
    more = f", and {len(contested) - 1} more" if len(contested) > 1 else ""
    return f"{f'{member} of {object_}' if member else object_} was changed by what came between as well{more}"


def _carried(merge: _Merge, operation: Edit, mine: Document, after: Document, theirs: Document) -> Document:
    """Return `theirs` after an operation that has made `after` of `mine`; what is contested of it is left out, and entered."""
    editor = getattr(operation, "editor", None) or standard_editor()
    sides = _Sides(merge, editor, mine, after, theirs)
    match operation:
        case Create() | Replace() | Patch() | Delete() if operation.place.resource.kind == "view":
            return sides.with_texts()
        case Replace() | Patch() if operation.full or not sides.shows(operation.place):
            return sides.with_texts()
        case Create(place=place) | Replace(place=place) | Patch(place=place) | Delete(place=place) | ReplaceAll(place=place) if (
            place.parent and editor.section_or_implied(theirs, *place.parent) is None
        ):
            return sides.without_parent(operation, place.parent)
        case Create():
            return sides.with_created(operation)
        case Replace() | Patch() | Delete() if operation.place.resource.kind == "indexed":
            return sides.with_row(operation)
        case Replace() | Patch():
            return sides.with_members(operation)
        case Delete():
            return sides.with_deleted(operation)
        case ReplaceAll():
            return sides.with_list(operation)
    return sides.with_texts()


@dataclass(frozen=True)
class _Sides:
    """One operation: the document before it and after it, and the newer one that it is to be made on."""

    merge: _Merge
    editor: Editor
    mine: Document
    after: Document
    theirs: Document

    def shows(self, place: Place) -> bool:
        """Return whether an object has the same name before and after, and members that all can be read."""
        return None not in (self._object(self.mine, place), self._object(self.after, place))

    def _object(self, document: Document, place: Place, *, full: bool = False) -> Object | None:
        return _object(self.editor, document, place, full=full)

    def _contest(self, place: Place, member: str = "", children: Resource | None = None) -> Document:
        """Enter what is contested, unless all operations together make what the newer document has."""
        contested = _Contested(place, member, children)
        if contested.value(self.editor, self.merge.newer) != contested.value(self.editor, self.merge.goal):
            self.merge.contested.append(contested)
        return self.theirs

    def _contest_list(self, place: Place) -> Document:
        assert place.parent is not None
        resource, name = place.parent
        member = next(member for member, child in self.editor.resources.children(resource.name) if child.name == place.resource.name)
        return self._contest(Place(resource, None, name), member, place.resource)

    def _is_made(self, place: Place) -> bool:
        """Return whether a list is in the newer document what all operations together make of it."""
        return self._rows(self.merge.newer, place) == self._rows(self.merge.goal, place)

    # -- objects

    def without_parent(self, operation: Edit, parent: tuple[Resource, str]) -> Document:
        if isinstance(operation, Delete):
            return self.theirs
        return self._contest(Place(parent[0], None, parent[1]))

    def with_created(self, operation: Create) -> Document:
        place = operation.place
        if place.resource.kind == "indexed":
            return self._with_new_row(operation)
        key = str(operation.body.get(place.resource.key) or "") if place.resource.kind != "singleton" else ""
        own = replace(place, key=key)
        if self._is_untouched(own):
            return operation.apply(self.theirs) if place.parent is None else self._with_new_row(operation)
        is_same = self._object(self.theirs, own, full=True) == self._object(self.after, own, full=True)
        return self.theirs if is_same else self._contest(own)

    def with_members(self, operation: Replace | Patch) -> Document:
        """Return `theirs` after some members of an object are changed; those that a Replace leaves as they were may differ."""
        place = operation.place
        if (now := self._object(self.theirs, place)) is None:
            return self._contest(place)
        if self._is_untouched(place):
            return operation.apply(self.theirs)
        before, made = self._object(self.mine, place) or {}, self._object(self.after, place) or {}
        names = (
            operation.members
            if isinstance(operation, Patch)
            else [name for name in {**before, **made} if before.get(name) != made.get(name)]
        )
        old, new, goal = (self._object(document, place) or {} for document in (self.merge.base, self.merge.newer, self.merge.goal))
        if new == goal:
            return self.theirs
        wanted = dict(now)
        for name in names:
            if new.get(name) == old.get(name):
                wanted[name] = made.get(name)
            else:
                self._contest(place, name)
        body = {name: value for name, value in wanted.items() if value is not None}
        return self.theirs if body == now else self.editor.replace(self.theirs, place.resource, place.parent, place.key, body)

    def with_deleted(self, operation: Delete) -> Document:
        if self._object(self.theirs, operation.place) is None:
            return self.theirs
        return operation.apply(self.theirs) if self._is_untouched(operation.place) else self._contest(operation.place)

    def _is_untouched(self, place: Place) -> bool:
        """Return whether what came between has left an object as it was, with all that stands in it."""
        return self._object(self.merge.newer, place, full=True) == self._object(self.merge.base, place, full=True)

    def with_list(self, operation: ReplaceAll) -> Document:
        before, made, now = (self._rows(document, operation.place) for document in (self.mine, self.after, self.theirs))
        if now in (before, made):
            return self.theirs if now == made or self._is_made(operation.place) else operation.apply(self.theirs)
        return self._contest_list(operation.place)

    # -- rows

    def _rows(self, document: Document, place: Place) -> list[str]:
        """Return what each row of a list says; of children with names their names."""
        assert place.parent is not None
        section = self.editor.section(document, *place.parent)
        if section is None:
            return []
        children = self.editor.lines.children(section, place.resource)
        if place.resource.kind == "named":
            return [str((object_ or {}).get(place.resource.key)) for object_ in children.objects]
        return [
            section.lines[line].text.strip() if object_ is None else json.dumps(object_, sort_keys=True)
            for line, object_ in zip(children.places, children.objects, strict=True)
        ]

    def with_row(self, operation: Replace | Patch | Delete) -> Document:
        """Return `theirs` after a row is changed or deleted, where it stands by now."""
        place = operation.place
        if self._is_made(place):
            return self.theirs
        rows = _Rows(self._rows(self.mine, place), self._rows(self.theirs, place))
        number = int(place.key)
        now, row = rows.places.get(number), rows.mine[number]
        made = None if isinstance(operation, Delete) else self._rows(self.after, place)[number]
        if self._rows(self.merge.newer, place).count(row) > self._rows(self.merge.base, place).count(row):
            return self._contest_list(place)
        is_done = rows.surplus(row) < 0 and (made is None or rows.surplus(made) > 0)
        if now is None:
            come = rows.come_at(number)
            return self.theirs if (made in come if made else not come) else self._contest_list(place)
        return self.theirs if is_done else replace(operation, place=replace(place, key=now)).apply(self.theirs)

    def _with_new_row(self, operation: Create) -> Document:
        place = operation.place
        if place.resource.kind == "indexed" and self._is_made(place):
            return self.theirs
        rows = _Rows(self._rows(self.mine, place), self._rows(self.theirs, place))
        size = len(rows.mine)
        at = place.key if isinstance(place.key, int) and 0 <= place.key < size else size
        index, between = rows.gap(at)
        if index is None:
            return self._contest_list(place)
        made = self._rows(self.after, place)[at]
        if rows.surplus(made) > 0 and made in rows.around(between, made):
            return self.theirs
        return replace(operation, place=replace(place, key=index)).apply(self.theirs)

    # -- texts

    def with_texts(self) -> Document:
        """Return `theirs` after whatever the operation does to the text, section by section."""
        before, after = (under_head_of(document, self.theirs) for document in (self.mine, self.after))
        theirs = self.theirs
        if before.preamble != after.preamble:
            preamble = _merged(before.preamble, theirs.preamble, after.preamble)
            if preamble is None:
                self._contest(_FRAME)
            else:
                theirs = theirs.with_preamble(preamble)
        gone, put = before.apart_from(after)
        come = []
        for key in dict.fromkeys([*after.keys()[put], *before.keys()[gone]]):
            old, new = _sections(before, key), _sections(after, key)
            if not old and not _sections(theirs, key):
                come.append(key)
            elif _texts(old) != _texts(new):
                theirs = self._with_section(theirs, key, old, new)
        for key in come:
            for section in _sections(after, key):
                theirs = _inserted(theirs, after, section)
        return self._in_order(theirs, before, after)

    def _with_section(self, theirs: Document, key: Key, old: Sequence[Section], new: Sequence[Section]) -> Document:
        """Return `theirs` with all sections of a kind and a name as they have become, or as much of it as is not contested."""
        there, place = _sections(theirs, key), _place_of(self.editor, key)
        if _texts(there) == _texts(new):
            return theirs
        if not (old and there and new):
            # Both have created it, or one side has deleted it.
            is_same = self._is_same(there, new) if not old else self._is_same(old, new or there)
            if not is_same:
                return self._left_out(theirs, place)
            return theirs if new else functools.reduce(Document.remove, there, theirs)
        if [section.file for section in old] != [section.file for section in new]:
            return self._left_out(theirs, _FRAME)
        if _texts(there) == _texts(old) and _texts(_sections(self.merge.newer, key)) == _texts(_sections(self.merge.base, key)):
            for section, own in zip(there, new, strict=True):
                theirs = theirs.replace(section, own)
            return theirs
        if len(old) == len(there) == 1 and key[0] != BOUNDARY:
            return self._with_parts(theirs, key, old[0], new[0])
        return self._left_out(theirs, _FRAME if key[0] == BOUNDARY else place, LINES)

    def _left_out(self, theirs: Document, place: Place, member: str = "") -> Document:
        self._contest(place, member)
        return theirs

    def _with_parts(self, theirs: Document, key: Key, old: Section, new: Section) -> Document:
        """Return `theirs` with what differs between two sections done to the third, which is another than both."""
        if any(effect.member == LINES for effect in self._effects(old, new)):
            return self._with_lines(theirs, key, old, new)
        before = self.mine.replace(_sections(self.mine, key)[0], old)
        now, mine = before, before.replace(old, new.with_lead(old.lead))
        for operation in _operations(self.editor, before, mine):
            after = operation.apply(now)
            theirs, now = _carried(self.merge, operation, now, after, theirs), after
        done, there = now.find(*key), theirs.find(*key)
        assert done is not None
        assert there is not None
        merged_section = there
        if done.text != new.text:
            if not self._is_same([done], [new]):
                return self._left_out(theirs, _place_of(self.editor, key), LINES)
            text = _merged(done.text, there.text, new.text)
            if text is not None and self._is_same([there], [there.with_text(text)]):
                merged_section = there.with_text(text)
            elif _comments(done) != _comments(new):
                return self._left_out(theirs, _place_of(self.editor, key), LINES)
        lead = _merged(old.lead, there.lead, new.lead)
        if lead is None:
            return self._left_out(theirs, _place_of(self.editor, key), LINES)
        return theirs.replace(there, merged_section.with_lead(lead))

    def _with_lines(self, theirs: Document, key: Key, old: Section, new: Section) -> Document:
        """Return `theirs` with lines that the API does not know merged as lines, if that does to the third section what it does to one."""
        there = theirs.find(*key)
        assert there is not None
        lead, text = _merged(old.lead, there.lead, new.lead), _merged(old.text, there.text, new.text)
        if lead is not None and text is not None and _conditions(old) == _conditions(new):
            made = there.with_text(text)
            if self._changes(there, made) == self._changes(old, new):
                return theirs.replace(there, made.with_lead(lead))
        return self._left_out(theirs, _place_of(self.editor, key), LINES)

    def _changes(self, one: Section, other: Section) -> Counter[str]:
        """Return the effects of a change, whatever positions rows have."""
        found = ({**effect.as_dict(), "object": effect.place.resource.name} for effect in self._effects(one, other))
        return Counter(json.dumps(each, sort_keys=True) for each in found)

    def _is_same(self, one: Sequence[Section], other: Sequence[Section]) -> bool:
        """Return whether sections differ in nothing but comments, and in how values are written."""
        if len(one) != len(other):
            return False
        return all(
            a.text == b.text or (self._frame(a) == self._frame(b) and not self._effects(a, b)) for a, b in zip(one, other, strict=True)
        )

    def _effects(self, one: Section, other: Section) -> Sequence[Effect]:
        before, after = (Document("", [section.in_file(None)]) for section in (one, other))
        return effects(self.editor, before, after)

    def _frame(self, section: Section) -> object:
        """Return what no member says: all lines if conditions stand between them, else the order of names."""
        lines = _written(section.text)
        if section.snippets or _conditions(section):
            return [line for line in lines if not line.startswith("#")]
        resource = _place_of(self.editor, (section.kind, section.name)).resource
        named = [child for _, child in self.editor.lines.kinds(resource.name, section) if child.kind == "named"]
        return {child.name: [row[child.key] for row in self.editor.lines.children(section, child).readable] for child in named}

    def _in_order(self, theirs: Document, before: Document, after: Document) -> Document:
        """Return `theirs` with the sections in the order that they have become, where that was changed."""
        if before.keys() == after.keys():
            return theirs
        common = set(before.keys()) & set(after.keys()) & set(theirs.keys())
        old, new, now = ([key for key in keys if key in common] for keys in (before.keys(), after.keys(), theirs.keys()))
        if new in (old, now):
            return theirs
        if old != now or theirs.repeated() & common or len({section.file for section in theirs.sections}) > 1:
            return self._left_out(theirs, _FRAME)
        wanted = iter([theirs.find(*key) for key in new])
        sections = [next(wanted) if key in common else section for key, section in zip(theirs.keys(), theirs.sections, strict=True)]
        return Document(theirs.preamble, [section for section in sections if section], theirs.leads)


class _Rows:
    """The rows of a list in two documents. `places`: where each of mine stands in theirs."""

    def __init__(self, mine: Sequence[str], theirs: Sequence[str]) -> None:
        self.mine, self.theirs = mine, theirs
        self.places: dict[int, int] = {}
        self._differing = list(changes(mine, theirs))
        at, there = 0, 0
        for gone, come in [*self._differing, ((len(mine),) * 2, (len(theirs),) * 2)]:
            self.places |= zip(range(at, gone[0]), range(there, come[0]), strict=True)
            at, there = gone[1], come[1]
        # Rows that have moved.
        free = set(range(len(theirs))) - set(self.places.values())
        for number, row in enumerate(mine):
            if number not in self.places and (same := [place for place in free if theirs[place] == row]):
                self.places[number] = min(same, key=lambda place: abs(place - number))
                free.discard(self.places[number])
        self._free = free

    def surplus(self, row: str) -> int:
        """Return how many more of them theirs has; negative for fewer."""
        return self.theirs.count(row) - self.mine.count(row)

    def come_at(self, number: int) -> list[str]:
        """Return the rows that stand in the place of one of mine that is gone."""
        come = next(come for gone, come in self._differing if gone[0] <= number < gone[1])
        return [self.theirs[place] for place in range(*come) if place in self._free]

    def gap(self, at: int) -> tuple[int | None, range]:
        """Return where in theirs a row goes that mine gets before its row `at`, and the places of what stands there already.

        The place is None if both neighbours are gone, or stand in another order.
        """
        above = -1 if at == 0 else self.places.get(at - 1)
        below = len(self.theirs) if at == len(self.mine) else self.places.get(at)
        if above is None and below is None:
            return None, range(0)
        if above is not None and below is not None:
            return (below if above < below else None), range(above + 1, below)
        taken = set(self.places.values())
        if above is not None:
            end = min((place for place in taken if place > above), default=len(self.theirs))
            return above + 1, range(above + 1, end)
        assert below is not None
        return below, range(max((place for place in taken if place < below), default=-1) + 1, below)

    def around(self, places: range, row: str) -> list[str]:
        """Return the rows at some places, with those beside them that are equal to a row: of these no one is before another."""
        start, end = places.start, places.stop
        while start > 0 and self.theirs[start - 1] == row:
            start -= 1
        while end < len(self.theirs) and self.theirs[end] == row:
            end += 1
        return list(self.theirs[start:end])


def _operations(editor: Editor, before: Document, after: Document) -> Iterator[Edit]:
    """Yield the operations on objects that make one document of another, in an order in which they can be made; none for lines."""
    found = [effect for effect in effects(editor, before, after) if effect.member != LINES]
    for (_, parent), group in groupby(found, lambda effect: (effect.place.resource.name, effect.place.parent)):
        own = list(group)
        for _, some in groupby((effect for effect in own if effect.member), lambda effect: effect.object):
            members = list(some)
            yield Patch(members[0].place, {effect.member: effect.new for effect in members}, editor=editor)
        whole = [effect for effect in own if not effect.member]
        if parent and editor.unparsed(before, own[0].place.resource, parent):
            # Positions would count the rows that cannot be read as well.
            continue
        yield from (Delete(effect.place) for effect in sorted(whole, key=_position, reverse=True) if effect.new is None)
        for effect in sorted(whole, key=_position):
            if effect.old is None:
                yield Create(replace(effect.place, key=_position(effect)), effect.new, editor=editor)


def _position(effect: Effect) -> int:
    return effect.place.key if isinstance(effect.place.key, int) else effect.position


def _place_of(editor: Editor, key: Key) -> Place:
    """Return the place of a section; of one that the API does not know, that of its text."""
    kind, name = key
    known = (each for each in editor.resources.by_name.values() if each.section == kind and not each.file and not each.parents)
    resource = next((each for each in known if each.kind != "view"), Resource(kind, "section", kind, kind, section=kind))
    return Place(resource, None, "" if resource.kind == "singleton" else name)


def _key_of(place: Place) -> Key:
    return place.resource.section, str(place.key)


def _object(editor: Editor, document: Document, place: Place, *, full: bool = False) -> Object | None:
    """Return an object, None if there is none. `full`: of a section all that its lines say, and no `from` that it has by its place."""
    if place.parent or not full:
        with suppress(NativeError):
            return editor.get_object(document, place.resource, place.parent, place.key)
        return None
    if place.resource.name not in editor.resources.by_name:
        texts = [section.text for section in _sections(document, _key_of(place))]
        return {LINES: texts} if texts else None
    section = editor.section(document, place.resource, str(place.key))
    if section is None:
        return None
    unknown = [section.lines[line].text.strip() for line in editor.unknown(section, place.resource)]
    return {**editor.as_object(section, place.resource, str(place.key), None, full=True), **({LINES: unknown} if unknown else {})}


def _sections(document: Document, key: Key) -> list[Section]:
    """Return all sections of a kind and a name."""
    if key in document.repeated():
        return [section for own, section in zip(document.keys(), document.sections, strict=True) if own == key]
    section = document.find(*key)
    return [section] if section else []


def _texts(sections: Sequence[Section]) -> list[tuple[str, str]]:
    return [(section.lead, section.text) for section in sections]


def _written(text: str) -> list[str]:
    return [line.strip() for line in split_lines(text) if line.strip()]


def _conditions(section: Section) -> list[str]:
    return [line for line in _written(section.text) if line.startswith(CONDITIONALS)]


def _comments(section: Section) -> list[str]:
    return [line.text.strip() for line in section.lines if line.is_comment]


def _merged(base: str, theirs: str, mine: str) -> str | None:
    """Return a text with the changes of both sides, None where they collide."""
    with suppress(Collision):
        return "".join(merged(*(split_lines(text) for text in (base, mine, theirs))))
    return None


def _inserted(document: Document, source: Document, section: Section) -> Document:
    """Return a document with a section of another, before the one that follows there in the same file, else at the end of the file."""
    at = source.place(section)
    following = (document.find(*key) for key in source.keys()[at + 1 :])
    below = next((other for other in following if other and other.file == section.file), None)
    if below is None:
        place = max(
            (number + 1 for number, other in enumerate(document.sections) if other.file == section.file), default=len(document.sections)
        )
    else:
        place = document.place(below)
    above = source.sections[at - 1].text if at else source.preamble
    return document.insert_at(section, place, apart=above.endswith("\n\n"), closed=section.text.endswith("\n\n"))
