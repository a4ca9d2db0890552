"""What a declaration changes: a pure function of what is declared, of the configuration, and of who owns what.

A member that is not as declared is set where nobody else owns it and it is as this owner declared it last, or is not set at all. Else
it is a conflict: with other owners, or with OUTSIDE where it was changed by hand or by another call.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from haproxy_native.editing.defaults_sections import DEFAULTS
from haproxy_native.editing.editor import Editor, Object
from haproxy_native.editing.object_names import section_of_object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.features.apply.files import FileEffect, PlannedFiles, file_object, is_entry, planned_files
from haproxy_native.features.apply.moves import Moves, of_effects
from haproxy_native.features.apply.owners import ITSELF, Owners, is_same
from haproxy_native.features.apply.parts import SELF, Members, Part, object_of, part_name, parts_of
from haproxy_native.features.apply.rules import Conflict, Declaration, Rules, Section
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section as TextSection

Parts = dict[Part, Members]


@dataclass(frozen=True)
class Planned:
    """`document` is `before` where nothing differs; what is a conflict is in it as it was. `owners` holds who owns what when it is done.

    `taken`: by force. `read`: what the files held that it was planned for, by their objects. `declared`: objects, without entries of maps.
    `claims`: the members of each object that are its owner's when it is done.
    """

    before: Document
    document: Document
    effects: Sequence[Effect]
    owners: Owners
    unchanged: Sequence[str]
    conflicts: Sequence[Conflict]
    taken: Sequence[Conflict]
    read: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    files: PlannedFiles = field(default_factory=PlannedFiles)
    declared: Sequence[str] = ()
    claims: Mapping[str, Collection[str]] = field(default_factory=dict, repr=False)

    @property
    def is_nothing(self) -> bool:
        return not self.effects and not self.files.contents and self.document is self.before

    def done(self, now: Document) -> "Planned":
        """The plan of the same declaration when it is carried out, in the configuration of that time."""
        read = {**self.read, **self.files.contents}
        return Planned(now, now, (), self.owners, self.declared, (), (), read, declared=self.declared)

    @property
    def gone(self) -> list[str]:
        """The objects that are deleted, without what goes with them."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [effect.object for effect in shown if effect.new is None and not effect.member]

    @property
    def created(self) -> list[str]:
        """The objects that come."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [each.object for each in shown if each.old is None and not each.member]

    @property
    def moves(self) -> Moves:
        return of_effects([*self.effects, *self.files.effects], [*self.conflicts, *self.taken])


def planned(
    editor: Editor, document: Document, owners: Owners, declaration: Declaration, read: Mapping[str, bytes | None] | None = None
) -> Planned:
    """`read`: what the files hold that are declared or were, by their objects. Raises what an edit of a configuration or a map raises."""
    return _Planner(editor, document, Rules(owners, declaration)).planned(read or {})


def _defaults_first(wanted: "Wanted") -> tuple[bool, str]:
    return wanted.resource.section != DEFAULTS, wanted.resource.name


def _touched(found: Iterable[Effect]) -> tuple[set[str], set[str]]:
    """Objects that differ, a section for a rule in it, and sections that come or go with what stands in them."""
    objects = {_section_of(effect.object) if isinstance(effect.place.key, int) else effect.object for effect in found}
    return objects, {effect.object for effect in found if not effect.member and effect.place.parent is None}


def _section_of(object_: str) -> str:
    return "/".join(object_.split("/")[:2])


@dataclass(frozen=True)
class Wanted:
    """The parts of a section as they are, and as they are wanted; None where it is not there."""

    resource: Resource
    name: str
    old: Parts | None
    new: Parts | None


@dataclass
class _Planner:
    editor: Editor
    before: Document
    rules: Rules

    @property
    def owners(self) -> Owners:
        return self.rules.owners

    @property
    def asked(self) -> Declaration:
        return self.rules.asked

    def planned(self, read: Mapping[str, bytes | None]) -> Planned:
        files = planned_files(self.rules, read)
        wanted = [self._wanted(section) for section in dict.fromkeys([*self.asked.sections, *self._former()])]
        document = self._as_far_as_possible(wanted) if self.rules.conflicts else self._edited(wanted)
        all_effects = effects(self.editor, self.before, document)
        objects, whole = _touched(all_effects)
        objects |= {conflict.object for conflict in self.rules.conflicts} | {file_object(effect.object) for effect in files.effects}
        declared = [claim for claim in self.rules.claims if not is_entry(claim)]
        unchanged = [name for name in declared if name not in objects and _section_of(name) not in whole]
        conflicts, taken = self.rules.conflicts, self.rules.taken
        return Planned(
            self.before,
            document,
            all_effects,
            self.rules.owners_then,
            unchanged,
            conflicts,
            taken,
            read,
            files,
            declared,
            self.rules.claims,
        )

    def _former(self) -> Iterator[Section]:
        """The sections that the owner declared before."""
        for object_ in self.owners.of(self.asked.owner):
            if file_object(object_):
                continue
            kind, name = section_of_object(self.editor, object_)
            if resource := self._of_kind(kind):
                yield resource.name, name

    def _of_kind(self, kind: str) -> Resource | None:
        sections = (resource for resource in self.editor.resources.by_name.values() if not resource.parents and not resource.file)
        return next((section for section in sections if section.section == kind), None)

    def _wanted(self, section: Section) -> Wanted:
        resource, name = self.editor.resources[section[0]], section[1]
        theirs = self._parts(resource, self._there(resource, name))
        mine = self._parts(resource, self.asked.sections.get(section))
        for part in mine or ():
            self.rules.claim(part_name(self.editor, resource, name, part), ITSELF, None)
        if mine is None and theirs is not None and self._goes(resource, name, theirs):
            return Wanted(resource, name, theirs, None)
        if theirs is None and mine is None:
            return Wanted(resource, name, None, None)
        wanted: Parts = {}
        for part in dict.fromkeys([*(theirs or ()), *(mine or ())]):
            members = self._members(resource, name, part, (theirs or {}).get(part), (mine or {}).get(part))
            if members is not None:
                wanted[part] = members
        return Wanted(resource, name, theirs, wanted)

    def _there(self, resource: Resource, name: str) -> Object | None:
        if self.editor.section(self.before, resource, name) is None:
            return None
        return self.editor.get_object(self.before, resource, None, name, full=True)

    def _parts(self, resource: Resource, object_: Object | None) -> Parts | None:
        return None if object_ is None else parts_of(self.editor, resource, object_)

    def _members(self, resource: Resource, name: str, part: Part, theirs: Members | None, mine: Members | None) -> Members | None:
        """Returns the members of one part; None if it is deleted."""
        object_ = part_name(self.editor, resource, name, part)
        if (
            mine is None
            and part != SELF
            and self.rules.is_given_up(object_)
            and self.rules.all_go([*self.rules.strange(object_, theirs or {})])
        ):
            return None
        wanted = dict(theirs or {})
        for member, value in (mine or {}).items():
            if member in self.asked.unowned:
                if theirs is None:
                    wanted[member] = value
                continue
            self.rules.claim(object_, member, value)
            if not is_same(wanted.get(member), value) and self.rules.may(object_, member, wanted.get(member), value):
                wanted[member] = value
        for member, former in self.owners.of(self.asked.owner).get(object_, {}).items():
            if member not in {*(mine or {}), *self.asked.unowned, ITSELF} and self.rules.is_mine_alone(
                object_, member, former, wanted.get(member)
            ):
                wanted.pop(member, None)
        return wanted

    def _goes(self, resource: Resource, name: str, theirs: Parts) -> bool:
        """Whether a section goes, with all that stands in it."""
        if resource.kind == "singleton" or not self.rules.is_given_up(part_name(self.editor, resource, name, SELF)):
            return False
        named = {part_name(self.editor, resource, name, part): members for part, members in theirs.items()}
        return self.rules.all_go([strange for object_, members in named.items() for strange in self.rules.strange(object_, members)])

    # -- the document

    def _as_far_as_possible(self, wanted: Sequence[Wanted]) -> Document:
        """What would be done besides conflicts, where that is something that can stand in a file."""
        try:
            return self._edited(wanted)
        except NativeError:
            return self.before

    def _edited(self, wanted: Sequence[Wanted]) -> Document:
        """A proxy may have its `from` by its place: it goes before, and a defaults section after, what changes places or names."""
        document, editor = self.before, self.editor
        gone = [effect for effect in wanted if effect.old is not None and effect.new is None]
        come = [effect for effect in wanted if effect.old is None and effect.new is not None]
        for effect in gone:
            if effect.resource.section != DEFAULTS:
                document = editor.delete(document, effect.resource, None, effect.name)
        for resource, group in groupby(sorted(come, key=_defaults_first), lambda effect: effect.resource):
            document = editor.create_all(document, resource, [self._new(effect) for effect in group])
        for effect in wanted:
            if effect.old is not None and effect.new is not None and effect.old != effect.new:
                document = self._replaced(document, effect.resource, effect.name, effect.old, effect.new)
        for effect in gone:
            if effect.resource.section == DEFAULTS:
                document = editor.delete(document, effect.resource, None, effect.name)
        return document

    def _new(self, wanted: Wanted) -> tuple[Object, TextSection | None]:
        """The object, and its text where it was sent as such."""
        text = self.asked.texts.get((wanted.resource.name, wanted.name))
        return object_of(self.editor, wanted.resource, wanted.name, wanted.new or {}), text

    def _replaced(self, document: Document, resource: Resource, name: str, old: Parts, new: Parts) -> Document:
        """Part by part: what the API has no members for stays as it is."""
        editor, children = self.editor, dict(self.editor.resources.children(resource.name))
        own, former = ({member: value for member, value in parts[SELF].items() if member not in children} for parts in (new, old))
        if own != former:
            document = editor.replace(document, resource, None, name, object_of(editor, resource, name, {SELF: own}))
        for member in dict.fromkeys([*old[SELF], *new[SELF]]):
            if member in children and (rows := new[SELF].get(member)) != old[SELF].get(member):
                document = editor.replace_all(document, children[member], (resource, name), rows or [])
        for part in (part for part in old if part not in new):
            document = editor.delete(document, children[part[0]], (resource, name), part[1])
        for part, members in new.items():
            if part != SELF and members != old.get(part):
                document = self._with_child(document, children[part[0]], (resource, name), part[1], members, is_there=part in old)
        return document

    def _with_child(
        self, document: Document, child: Resource, parent: tuple[Resource, str], name: str, members: Members, *, is_there: bool
    ) -> Document:
        body = {child.key: name, **members}
        if is_there:
            return self.editor.replace(document, child, parent, name, body)
        return self.editor.create(document, child, parent, body)
