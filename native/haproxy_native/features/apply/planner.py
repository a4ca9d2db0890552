"""Plan what a declaration changes. Pure: it depends on nothing but the declaration, the configuration, the files and the owners.

The planner splits each section into parts (sections.py), decides about each member (rules.py), and edits the parts that differ. Members in
conflict stay unchanged. A stored plan has a digest of each of its changes (`Moves`), and is carried out only if planning again results in
the same digests.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS
from haproxy_native.editing.editor import Editor, Object
from haproxy_native.editing.object_names import section_of_object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import ChangedSince, NativeError
from haproxy_native.features.apply.files import FileEffect, PlannedFiles, file_object, is_entry, planned_files
from haproxy_native.features.apply.owners import ITSELF, Owners, digest, equals_declared
from haproxy_native.features.apply.rules import Declaration, OwnershipConflict, Rules, Section
from haproxy_native.features.apply.sections import SELF, Members, Part, object_of, part_name, parts_of
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section as TextSection

# The digests of the changes of a plan, by what they change: `OBJECT` or `MEMBER of OBJECT`.
Moves = Mapping[str, str]
# The values that objects have in the running process; None for an object that it does not have.
Values = Mapping[str, Any]
# What to do about a plan that cannot be carried out, for error messages.
AGAIN = "request a new plan"
Parts = dict[Part, Members]


def moves_of(effects: Iterable[Effect | FileEffect], conflicts: Iterable[OwnershipConflict] = ()) -> Moves:
    """Return the moves of a plan from its effects and its conflicts, including those that were resolved by force."""
    values_by_name: dict[str, list[Any]] = {}
    for effect in effects:
        values_by_name.setdefault(_moved_name(effect), []).append([effect.old, effect.new])
    for conflict in conflicts:
        values_by_name.setdefault(_moved_name(conflict), []).append([[*conflict.owners], conflict.theirs, conflict.mine])
    return {name: digest(values) for name, values in values_by_name.items()}


def _moved_name(change: Effect | FileEffect | OwnershipConflict) -> str:
    return f"{change.member} of {change.object}" if change.member else change.object


def refuse_moved(planned: Moves, now: Moves) -> None:
    """Raise ChangedSince if the present plan makes other changes than the stored one. The message names the first that differs."""
    if differing := next((object_ for object_ in [*planned, *now] if planned.get(object_) != now.get(object_)), None):
        raise ChangedSince(f"{differing} has been changed since the plan was made; {AGAIN}")


def refuse_moved_values(planned: Values, now: Values) -> None:
    """Raise ChangedSince if a value in the process differs from the planned one. The message names the first that differs."""
    for object_, before in planned.items():
        if (value := now.get(object_)) == before:
            continue
        if not isinstance(before, Mapping) or not isinstance(value, Mapping):
            raise ChangedSince(f"{object_} has been changed in the running HAProxy since the plan was made; {AGAIN}")
        member = next(member for member in {**before, **value} if before.get(member) != value.get(member))
        old, new = before.get(member), value.get(member)
        raise ChangedSince(f"{member} of {object_} is {new} in the running HAProxy, and was {old} when the plan was made; {AGAIN}")


@dataclass(frozen=True)
class Planned:
    """The plan of a declaration."""

    before: Document
    # The document after the change; `before` itself if no section changes. Members in conflict are unchanged.
    document: Document
    # The changes of sections.
    effects: Sequence[Effect]
    # The owners after the change.
    owners: Owners
    # The declared objects that stay as they are.
    unchanged: Sequence[str]
    # The conflicts that remain, and those that were resolved by force.
    conflicts: Sequence[OwnershipConflict]
    taken: Sequence[OwnershipConflict]
    # The contents that the files had when the plan was made, by object; None for a missing file.
    read: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    # The changes of files.
    files: PlannedFiles = field(default_factory=PlannedFiles)
    # The declared objects, without entries of maps.
    declared: Sequence[str] = ()
    # The members that the owner claims after the change, by object.
    claims: Mapping[str, Collection[str]] = field(default_factory=dict, repr=False)

    @property
    def is_nothing(self) -> bool:
        return not self.effects and not self.files.contents and self.document is self.before

    def done(self, now: Document) -> "Planned":
        """Return the plan that the same declaration has after it was carried out: one without changes. `now` is the new document."""
        read = {**self.read, **self.files.contents}
        return Planned(now, now, (), self.owners, self.declared, (), (), read, declared=self.declared)

    @property
    def gone(self) -> list[str]:
        """Return the objects that are deleted, without the objects in them."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [effect.object for effect in shown if effect.new is None and not effect.member]

    @property
    def created(self) -> list[str]:
        """Return the objects that are created."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [each.object for each in shown if each.old is None and not each.member]

    @property
    def moves(self) -> Moves:
        """Return the digests of all changes, for a stored plan."""
        return moves_of([*self.effects, *self.files.effects], [*self.conflicts, *self.taken])


def planned(
    editor: Editor, document: Document, owners: Owners, declaration: Declaration, read: Mapping[str, bytes | None] | None = None
) -> Planned:
    """Plan a declaration. `read` has the contents of the files that the owner declares or has declared before, by object.

    Raises what an edit raises.
    """
    return _DeclarationPlanner(editor, document, Rules(owners, declaration)).planned(read or {})


def _defaults_first(wanted: "SectionChange") -> tuple[bool, str]:
    """Return a sort key that puts defaults sections first, and groups the others by collection."""
    return wanted.resource.section != DEFAULTS, wanted.resource.name


def _changed_objects(found: Iterable[Effect]) -> tuple[set[str], set[str]]:
    """Return the objects that differ, and the sections that are created or deleted. For a rule, return its section."""
    objects = {_section_of(effect.object) if isinstance(effect.place.key, int) else effect.object for effect in found}
    return objects, {effect.object for effect in found if not effect.member and effect.place.parent is None}


def _section_of(object_: str) -> str:
    return "/".join(object_.split("/")[:2])


@dataclass(frozen=True)
class SectionChange:
    """The parts of a section before and after; None if it does not exist."""

    resource: Resource
    name: str
    old: Parts | None
    new: Parts | None


@dataclass
class _DeclarationPlanner:
    """Plans one declaration. `rules` collects its claims and conflicts."""

    editor: Editor
    before: Document
    rules: Rules

    @property
    def owners(self) -> Owners:
        return self.rules.owners

    @property
    def declaration(self) -> Declaration:
        return self.rules.declaration

    def planned(self, read: Mapping[str, bytes | None]) -> Planned:
        files = planned_files(self.rules, read)
        wanted = [self._section_change(section) for section in dict.fromkeys([*self.declaration.sections, *self._former_sections()])]
        document = self._edited_despite_conflicts(wanted) if self.rules.conflicts else self._edited(wanted)
        all_effects = effects(self.editor, self.before, document)
        objects, whole = _changed_objects(all_effects)
        objects |= {conflict.object for conflict in self.rules.conflicts} | {file_object(effect.object) for effect in files.effects}
        declared = [claim for claim in self.rules.claims if not is_entry(claim)]
        unchanged = [name for name in declared if name not in objects and _section_of(name) not in whole]
        conflicts, taken = self.rules.conflicts, self.rules.taken
        return Planned(
            self.before,
            document,
            all_effects,
            self.rules.owners_after,
            unchanged,
            conflicts,
            taken,
            read,
            files,
            declared,
            self.rules.claims,
        )

    def _former_sections(self) -> Iterator[Section]:
        """Yield the sections that the owner has declared before."""
        for object_ in self.owners.claims_of(self.declaration.owner):
            if file_object(object_):
                continue
            kind, name = section_of_object(self.editor, object_)
            if resource := self._section_resource(kind):
                yield resource.name, name

    def _section_resource(self, kind: str) -> Resource | None:
        sections = (resource for resource in self.editor.resources.by_name.values() if not resource.parents and not resource.file)
        return next((section for section in sections if section.section == kind), None)

    def _section_change(self, section: Section) -> SectionChange:
        """Claim what is declared of a section, and return its parts before and after."""
        resource, name = self.editor.resources[section[0]], section[1]
        theirs = self._split(resource, self._present_section(resource, name))
        mine = self._split(resource, self.declaration.sections.get(section))
        for part in mine or ():
            self.rules.claim(part_name(self.editor, resource, name, part), ITSELF, None)
        if mine is None and theirs is not None and self._is_deleted(resource, name, theirs):
            return SectionChange(resource, name, theirs, None)
        if theirs is None and mine is None:
            return SectionChange(resource, name, None, None)
        wanted: Parts = {}
        for part in dict.fromkeys([*(theirs or ()), *(mine or ())]):
            members = self._wanted_members(resource, name, part, (theirs or {}).get(part), (mine or {}).get(part))
            if members is not None:
                wanted[part] = members
        return SectionChange(resource, name, theirs, wanted)

    def _present_section(self, resource: Resource, name: str) -> Object | None:
        if self.editor.section(self.before, resource, name) is None:
            return None
        return self.editor.get_object(self.before, resource, None, name, full=True)

    def _split(self, resource: Resource, object_: Object | None) -> Parts | None:
        return None if object_ is None else parts_of(self.editor, resource, object_)

    def _wanted_members(self, resource: Resource, name: str, part: Part, theirs: Members | None, mine: Members | None) -> Members | None:
        """Claim the declared members of a part, and return the members that it will have; None if it is deleted."""
        object_ = part_name(self.editor, resource, name, part)
        if (
            mine is None
            and part != SELF
            and self.rules.is_abandoned(object_)
            and self.rules.may_delete([*self.rules.undeclared(object_, theirs or {})])
        ):
            return None
        wanted = dict(theirs or {})
        for member, value in (mine or {}).items():
            if member in self.declaration.unowned:
                if theirs is None:
                    wanted[member] = value
                continue
            self.rules.claim(object_, member, value)
            if not equals_declared(wanted.get(member), value) and self.rules.may_set(object_, member, wanted.get(member), value):
                wanted[member] = value
        for member, former in self.owners.claims_of(self.declaration.owner).get(object_, {}).items():
            if member not in {*(mine or {}), *self.declaration.unowned, ITSELF} and self.rules.may_unset(
                object_, member, former, wanted.get(member)
            ):
                wanted.pop(member, None)
        return wanted

    def _is_deleted(self, resource: Resource, name: str, theirs: Parts) -> bool:
        """Return whether to delete a section that is no longer declared, with everything in it."""
        if resource.kind == "singleton" or not self.rules.is_abandoned(part_name(self.editor, resource, name, SELF)):
            return False
        named = {part_name(self.editor, resource, name, part): members for part, members in theirs.items()}
        return self.rules.may_delete(
            [conflict for object_, members in named.items() for conflict in self.rules.undeclared(object_, members)]
        )

    def _edited_despite_conflicts(self, wanted: Sequence[SectionChange]) -> Document:
        """Return the document with the changes that are not in conflict; the old document if these alone are not a valid edit."""
        try:
            return self._edited(wanted)
        except NativeError:
            return self.before

    def _edited(self, wanted: Sequence[SectionChange]) -> Document:
        """Return the document with all changes.

        A proxy may inherit from the defaults section above it. So proxies are deleted before everything else, and defaults sections last.
        """
        document, editor = self.before, self.editor
        deleted = [effect for effect in wanted if effect.old is not None and effect.new is None]
        created = [effect for effect in wanted if effect.old is None and effect.new is not None]
        for effect in deleted:
            if effect.resource.section != DEFAULTS:
                document = editor.delete(document, effect.resource, None, effect.name)
        for resource, group in groupby(sorted(created, key=_defaults_first), lambda effect: effect.resource):
            document = editor.create_all(document, resource, [self._new_section(effect) for effect in group])
        for effect in wanted:
            if effect.old is not None and effect.new is not None and effect.old != effect.new:
                document = self._replaced(document, effect.resource, effect.name, effect.old, effect.new)
        for effect in deleted:
            if effect.resource.section == DEFAULTS:
                document = editor.delete(document, effect.resource, None, effect.name)
        return document

    def _new_section(self, wanted: SectionChange) -> tuple[Object, TextSection | None]:
        """Return a new section, and its text if it was sent as text."""
        text = self.declaration.texts.get((wanted.resource.name, wanted.name))
        return object_of(self.editor, wanted.resource, wanted.name, wanted.new or {}), text

    def _replaced(self, document: Document, resource: Resource, name: str, old: Parts, new: Parts) -> Document:
        """Replace the parts of a section that differ. This preserves the lines for which the API has no member."""
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
