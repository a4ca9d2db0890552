"""Plan what a declaration changes. A plan depends only on the declaration, the configuration, the files and the owners.

The planner splits each section into parts (sections.py), decides about each member (rules.py), and edits the parts that differ. Members in
conflict stay unchanged. A stored plan has a digest of each of its changes (`Moves`). It is carried out only if planning again results in
the same digests.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import section_of_object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import ChangedSince, NativeError
from haproxy_native.features.apply.files import FileEffect, PlannedFiles, file_object, is_entry, plan_files
from haproxy_native.features.apply.owners import ITSELF, Owners, digest, equals_declared
from haproxy_native.features.apply.rules import Declaration, OwnershipConflict, Rules, Section
from haproxy_native.features.apply.sections import SELF, Members, Part, object_of, part_name, parts_of
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.text.document import Document

# The digests of the changes of a plan, by what they change: `OBJECT` or `MEMBER of OBJECT`.
Moves = Mapping[str, str]
# The values that objects have in the running process; None for an object that it does not have.
Values = Mapping[str, Any]
# What to do about a plan that cannot be carried out, for error messages.
AGAIN = "request a new plan"
Parts = dict[Part, Members]


def moves_of(effects: Iterable[Effect | FileEffect], conflicts: Iterable[OwnershipConflict] = ()) -> Moves:
    """Return the digests of the changes that a plan makes, by name of the member or object.

    `conflicts`: all conflicts of the plan, including those that `force` has resolved.
    """
    values_by_name: dict[str, list[Any]] = {}
    for effect in effects:
        values_by_name.setdefault(_changed_name(effect), []).append([effect.old, effect.new])
    for conflict in conflicts:
        values_by_name.setdefault(_changed_name(conflict), []).append([[*conflict.owners], conflict.theirs, conflict.mine])
    return {name: digest(values) for name, values in values_by_name.items()}


def _changed_name(change: Effect | FileEffect | OwnershipConflict) -> str:
    return f"{change.member} of {change.object}" if change.member else change.object


def refuse_moved(planned: Moves, present: Moves) -> None:
    """Raise ChangedSince if the present plan makes other changes than the stored plan. The message names the first differing change.

    `planned`: the digests of the stored plan. `present`: the digests of a plan that was made now.
    """
    if differing := next((name for name in [*planned, *present] if planned.get(name) != present.get(name)), None):
        raise ChangedSince(f"{differing} has been changed since the plan was made; {AGAIN}")


def refuse_moved_values(planned: Values, present: Values) -> None:
    """Raise ChangedSince if a value in the running process is not the value that the plan has. The message names the first such value.

    `planned`: the values when the plan was made. `present`: the values now.
    """
    for object_, before in planned.items():
        if (value := present.get(object_)) == before:
            continue
        if not isinstance(before, Mapping) or not isinstance(value, Mapping):
            raise ChangedSince(f"{object_} has been changed in the running HAProxy since the plan was made; {AGAIN}")
        member = next(member for member in {**before, **value} if before.get(member) != value.get(member))
        old, new = before.get(member), value.get(member)
        raise ChangedSince(f"{member} of {object_} is {new} in the running HAProxy, and was {old} when the plan was made; {AGAIN}")


@dataclass(frozen=True)
class Planned:
    """The plan of a declaration: the changes that it makes, and its conflicts."""

    before: Document
    # The document after the change; `before` itself if no section changes. Members in conflict are unchanged.
    document: Document
    # The changes of sections.
    effects: Sequence[Effect]
    # The owners after the change.
    owners: Owners
    # The declared objects that stay as they are.
    unchanged: Sequence[str]
    # The conflicts that remain, and those that `force` has resolved.
    conflicts: Sequence[OwnershipConflict]
    overruled: Sequence[OwnershipConflict]
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

    def repeated(self, document: Document) -> "Planned":
        """Return the plan of the same declaration after its commit: a plan without changes. `document`: the result of the commit."""
        read = {**self.read, **self.files.contents}
        return Planned(document, document, (), self.owners, self.declared, (), (), read, declared=self.declared)

    @property
    def deleted(self) -> list[str]:
        """Return the names of the objects that are deleted. The objects inside a deleted object are omitted."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [effect.object for effect in shown if effect.new is None and not effect.member]

    @property
    def created(self) -> list[str]:
        """Return the names of the objects that are created."""
        shown: list[Effect | FileEffect] = [*self.effects, *self.files.shown]
        return [each.object for each in shown if each.old is None and not each.member]

    @property
    def moves(self) -> Moves:
        """Return the digests of all changes. A stored plan contains them."""
        return moves_of([*self.effects, *self.files.effects], [*self.conflicts, *self.overruled])


@dataclass(frozen=True)
class SectionChange:
    """The change of a section. `old`, `new`: its parts before and after, or None if the section does not exist."""

    resource: Resource
    name: str
    old: Parts | None
    new: Parts | None


def plan_declaration(
    editor: Editor, document: Document, owners: Owners, declaration: Declaration, read: Mapping[str, bytes | None] | None = None
) -> Planned:
    """Plan a declaration. Raises what an edit of the document raises.

    `read`: the contents of the files that the owner declares or has declared before, by object name.
    """
    rules = Rules(owners, declaration)
    files = plan_files(rules, read or {})
    sections = list(declaration.sections)
    resources = [resource for resource in editor.resources.by_name.values() if not resource.parents and not resource.file]
    for object_ in owners.claims_of(declaration.owner):
        if not file_object(object_):
            kind, name = section_of_object(editor, object_)
            sections += [(resource.name, name) for resource in resources if resource.section == kind][:1]
    changes = [_plan_section(editor, document, rules, section) for section in dict.fromkeys(sections)]
    try:
        edited = _edited(editor, document, declaration, changes)
    except NativeError:
        if not rules.conflicts:
            raise
        # The changes that are not in conflict may be no valid edit on their own.
        edited = document
    section_effects = effects(document, edited)
    # An effect on a rule changes its section, which is the declared object.
    changed = {_section_of(effect.object) if isinstance(effect.place.key, int) else effect.object for effect in section_effects}
    changed |= {conflict.object for conflict in rules.conflicts} | {file_object(effect.object) for effect in files.effects}
    whole = {effect.object for effect in section_effects if not effect.member and effect.place.parent is None}
    declared = [object_ for object_ in rules.claims if not is_entry(object_)]
    return Planned(
        before=document,
        document=edited,
        effects=section_effects,
        owners=rules.owners_after,
        unchanged=[object_ for object_ in declared if object_ not in changed and _section_of(object_) not in whole],
        conflicts=rules.conflicts,
        overruled=rules.overruled,
        read=read or {},
        files=files,
        declared=declared,
        claims=rules.claims,
    )


def _section_of(object_: str) -> str:
    return "/".join(object_.split("/")[:2])


def _plan_section(editor: Editor, document: Document, rules: Rules, section: Section) -> SectionChange:
    """Claim the declared members of a section, and return the change of the section."""
    resource, name = editor.resources[section[0]], section[1]
    present: Parts | None = None
    if editor.section(document, resource, name) is not None:
        present = parts_of(editor, resource, editor.get_object(document, resource, None, name, full=True))
    declared: Parts | None = None
    if (declared_section := rules.declaration.sections.get(section)) is not None:
        declared = parts_of(editor, resource, declared_section)
    names = {part: part_name(editor, resource, name, part) for part in (*(present or ()), *(declared or ()))}
    for part in declared or ():
        rules.claim(names[part], ITSELF, None)
    if present is None and declared is None:
        return SectionChange(resource, name, None, None)
    if present is not None and declared is None and resource.kind != "singleton" and rules.is_pruned(names[SELF]):
        conflicts = [conflict for part, members in present.items() for conflict in rules.deletion_conflicts(names[part], members)]
        # A section in conflict stays as it is, with all its parts.
        return SectionChange(resource, name, present, None if rules.may_delete(conflicts) else present)
    new: Parts = {}
    for part, object_ in names.items():
        part_present, part_declared = (present or {}).get(part), (declared or {}).get(part)
        is_pruned = part_declared is None and part != SELF and rules.is_pruned(object_)
        if not is_pruned or not rules.may_delete([*rules.deletion_conflicts(object_, part_present or {})]):
            new[part] = _plan_members(rules, object_, part_present, part_declared or {})
    return SectionChange(resource, name, present, new)


def _plan_members(rules: Rules, object_: str, present: Members | None, declared: Members) -> Members:
    """Claim the declared members of an object, and return the members that it has after the declaration.

    `present` is None if the object does not exist yet.
    """
    declaration, members = rules.declaration, dict(present or {})
    for member, value in declared.items():
        if member in declaration.unowned:
            if present is None:
                members[member] = value
            continue
        rules.claim(object_, member, value)
        if not equals_declared(members.get(member), value) and rules.may_set(object_, member, members.get(member), value):
            members[member] = value
    for member, claim in rules.owners.claims_of(declaration.owner).get(object_, {}).items():
        is_declared = member in declared or member in declaration.unowned or member == ITSELF
        if not is_declared and rules.may_unset(object_, member, claim, members.get(member)):
            members.pop(member, None)
    return members


def _edited(editor: Editor, document: Document, declaration: Declaration, changes: Sequence[SectionChange]) -> Document:
    """Return the document with all changes.

    A proxy may inherit from the defaults section above it. Proxies are therefore deleted first, and defaults sections last.
    """
    deleted = [change for change in changes if change.old is not None and change.new is None]
    created = [change for change in changes if change.old is None and change.new is not None]
    created.sort(key=lambda change: (change.resource.section != DEFAULTS, change.resource.name))
    for change in deleted:
        if change.resource.section != DEFAULTS:
            document = editor.delete(document, change.resource, None, change.name)
    for resource, group in groupby(created, lambda change: change.resource):
        new_sections = []
        for change in group:
            text = declaration.texts.get((resource.name, change.name))
            new_sections.append((object_of(editor, resource, change.name, change.new or {}), text))
        document = editor.create_all(document, resource, new_sections)
    for change in changes:
        if change.old is not None and change.new is not None and change.old != change.new:
            document = _replace_parts(editor, document, change.resource, change.name, change.old, change.new)
    for change in deleted:
        if change.resource.section == DEFAULTS:
            document = editor.delete(document, change.resource, None, change.name)
    return document


def _replace_parts(editor: Editor, document: Document, resource: Resource, name: str, old: Parts, new: Parts) -> Document:
    """Edit those parts of a section that differ between `old` and `new`. Lines for which the API has no member are preserved."""
    children = dict(editor.resources.children(resource.name))
    own, former = ({member: value for member, value in parts[SELF].items() if member not in children} for parts in (new, old))
    if own != former:
        document = editor.replace(document, resource, None, name, object_of(editor, resource, name, {SELF: own}))
    for member in dict.fromkeys([*old[SELF], *new[SELF]]):
        if member in children and (rows := new[SELF].get(member)) != old[SELF].get(member):
            document = editor.replace_all(document, children[member], (resource, name), rows or [])
    for part in old:
        if part not in new:
            document = editor.delete(document, children[part[0]], (resource, name), part[1])
    for part, members in new.items():
        if part != SELF and members != old.get(part):
            child, child_name = children[part[0]], part[1]
            body = {child.key: child_name, **members}
            if part in old:
                document = editor.replace(document, child, (resource, name), child_name, body)
            else:
                document = editor.create(document, child, (resource, name), body)
    return document
