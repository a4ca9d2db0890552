"""Decide what a declaration sets and deletes, from what its owner and others have declared before.

A declared member is set if its value differs, no other owner owns the member, and it is unset or still has the value that this owner
declared last. Otherwise there is a conflict: with the owners of the member, or with OUTSIDE if somebody has changed the value by hand or by
another API call. `force` resolves all conflicts in favor of the declaration.

An object that the owner no longer declares is deleted if the owner declared it before and no other owner owns any part of it. If the
present value of one of its members is not the value that the owner declared last, the deletion is a conflict.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.editing.editor import Object
from haproxy_native.features.apply.owners import ITSELF, Owners, digest, is_claimed
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text.section import Section as TextSection

# The collection and the name of a section. A section that exists once, such as `global`, has the name "".
Section = tuple[str, str]
Members = Mapping[str, Any]
# Members that an object may have although its owner has not declared them. The position of a section may imply its `from`.
_IMPLICIT = ("from", "metadata")


@dataclass(frozen=True)
class DeclaredFile:
    """A declared file. A map has `entries`, by key. Any other file has `content`. A map that was sent as a file has both."""

    content: bytes | None = field(default=None, repr=False)
    entries: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Declaration:
    """The sections and files that an owner declares, and the options of the declaration."""

    owner: str
    sections: Mapping[Section, Object]
    # The files by object name, such as `map/hosts.map`.
    files: Mapping[str, DeclaredFile] = field(default_factory=dict)
    # Whether to delete what the owner no longer declares.
    prune: bool = True
    # Whether to resolve conflicts in favor of the declaration.
    force: bool = False
    # The names of members that the owner does not claim. They are set only when their object is created.
    unowned: Collection[str] = ()
    # The declared sections as they will be written, with their comments.
    texts: Mapping[Section, TextSection] = field(default_factory=dict)
    author: Author = field(kw_only=True)


@dataclass(frozen=True)
class OwnershipConflict:
    """A member that a declaration would change or delete, although others own it or have set it."""

    object: str
    # Empty if the conflict is about the object itself.
    member: str
    # The other owners, or OUTSIDE.
    owners: Sequence[str]
    # The present value; None if the member is unset.
    theirs: Any
    # The declared value; None if the declaration would delete the member.
    mine: Any


@dataclass
class Rules:
    """The rules for one declaration. Collects the conflicts of the declaration, and the new claims of its owner."""

    owners: Owners
    declaration: Declaration
    # The conflicts that remain, and those that `force` has resolved.
    conflicts: list[OwnershipConflict] = field(default_factory=list)
    overruled: list[OwnershipConflict] = field(default_factory=list)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def owners_after(self) -> Owners:
        """Return the owners after the declaration is carried out. If the declaration has no `prune`, its owner keeps its former claims."""
        owner, claims = self.declaration.owner, dict(self.claims)
        if not self.declaration.prune:
            former = self.owners.claims.get(owner, {})
            claims = {name: {**former.get(name, {}), **claims.get(name, {})} for name in dict.fromkeys([*former, *claims])}
        lost: dict[str, set[tuple[str, str]]] = {}
        for conflict in self.overruled:
            for other in conflict.owners:
                lost.setdefault(other, set()).add((conflict.object, conflict.member))
        return self.owners.with_claims(owner, claims, lost)

    def claim(self, object_: str, member: str, value: Any) -> None:
        """Record that the owner of the declaration claims a member with the declared value."""
        self.claims.setdefault(object_, {})[member] = digest(value)

    def may_set(self, object_: str, member: str, present: Any, declared: Any) -> bool:
        """Return whether a member may be changed from its present to the declared value. Record a conflict if others own or have set it.

        If the declaration has `force`, the conflict is recorded as resolved, and the result is True.
        """
        owner = self.declaration.owner
        others = self.owners.other_owners(owner, object_, member)
        if not others and (present is None or is_claimed(self.owners.claims_of(owner).get(object_, {}).get(member), present)):
            return True
        return self.record_conflict(OwnershipConflict(object_, member, others or [OUTSIDE], present, declared))

    def record_conflict(self, conflict: OwnershipConflict) -> bool:
        """Record a conflict, and return whether the declaration resolves it with `force`."""
        (self.overruled if self.declaration.force else self.conflicts).append(conflict)
        return self.declaration.force

    def may_unset(self, object_: str, member: str, claim: str, present: Any) -> bool:
        """Return whether to delete a member that is no longer declared. `claim`: the owner's claim to the member.

        True if the declaration has `prune`, no other owner owns the member, and the claim is for its present value.
        """
        others = self.owners.other_owners(self.declaration.owner, object_, member)
        return self.declaration.prune and not others and is_claimed(claim, present)

    def is_pruned(self, object_: str) -> bool:
        """Return whether to delete an object that is no longer declared, provided that there are no `deletion_conflicts`.

        True if the declaration has `prune`, its owner declared the object before, and no other owner owns a part of the object.
        """
        is_mine = ITSELF in self.owners.claims_of(self.declaration.owner).get(object_, {})
        return self.declaration.prune and is_mine and not any(self.owners.other_owners_within(self.declaration.owner, object_))

    def deletion_conflicts(self, object_: str, members: Members) -> Iterator[OwnershipConflict]:
        """Yield the conflicts of deleting an object: one for each member whose present value is not the value that the owner has declared.

        If the owner has no claim to the object, yield one conflict for the object itself.
        """
        own = self.owners.claims_of(self.declaration.owner).get(object_)
        if own is None:
            yield OwnershipConflict(object_, ITSELF, [OUTSIDE], {}, None)
            return
        for member, value in members.items():
            if member not in {*_IMPLICIT, *self.declaration.unowned} and not is_claimed(own.get(member), value):
                yield OwnershipConflict(object_, member, [OUTSIDE], value, None)

    def may_delete(self, conflicts: Sequence[OwnershipConflict]) -> bool:
        """Record the conflicts of a deletion, and return whether the object may be deleted.

        True if there are no conflicts, or if the declaration resolves them with `force`.
        """
        for conflict in conflicts:
            self.record_conflict(conflict)
        return self.declaration.force or not conflicts
