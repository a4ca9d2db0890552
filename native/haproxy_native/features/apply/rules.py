"""Decide what a declaration sets and deletes, from what its owner and others have declared before.

A declared member is set if its value differs, nobody else owns the member, and it is unset or still has the value that this owner declared
last. Otherwise there is a conflict: with the owners of the member, or with OUTSIDE if somebody has changed the value by hand or by another
API call. `force` resolves all conflicts in favor of the declaration.

An object that the owner no longer declares is deleted if the owner declared it before and nobody else owns any part of it. If a member has
another value than the owner declared last, the deletion is a conflict.
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
    """A declared file. A map has `entries`, by key; any other file has `content`. A map that was sent as a file has both."""

    content: bytes | None = field(default=None, repr=False)
    entries: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Declaration:
    """A declaration: the sections and files that its owner wants, and options."""

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
    """A member that a declaration would change, although others own it or have set it."""

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
    """The rules for one declaration. Collects its conflicts, and the new claims of its owner."""

    owners: Owners
    declaration: Declaration
    # The conflicts that remain, and those that `force` has resolved.
    conflicts: list[OwnershipConflict] = field(default_factory=list)
    overruled: list[OwnershipConflict] = field(default_factory=list)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def owners_after(self) -> Owners:
        """Return the owners after the declaration was carried out. Without `prune`, the owner keeps its former claims."""
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
        """Add a claim of the owner for a declared value."""
        self.claims.setdefault(object_, {})[member] = digest(value)

    def may_set(self, object_: str, member: str, present: Any, declared: Any) -> bool:
        """Return whether a member may be changed from its present to the declared value. If not, record a conflict.

        `force` resolves the conflict, and makes the result True.
        """
        owner = self.declaration.owner
        others = self.owners.other_owners(owner, object_, member)
        if not others and (present is None or is_claimed(self.owners.claims_of(owner).get(object_, {}).get(member), present)):
            return True
        return self.record_conflict(OwnershipConflict(object_, member, others or [OUTSIDE], present, declared))

    def record_conflict(self, conflict: OwnershipConflict) -> bool:
        """Record a conflict, and return whether `force` resolves it."""
        (self.overruled if self.declaration.force else self.conflicts).append(conflict)
        return self.declaration.force

    def may_unset(self, object_: str, member: str, claim: str, present: Any) -> bool:
        """Return whether to delete a member that is no longer declared: if nobody else owns it, and the claim is for its present value."""
        others = self.owners.other_owners(self.declaration.owner, object_, member)
        return self.declaration.prune and not others and is_claimed(claim, present)

    def is_pruned(self, object_: str) -> bool:
        """Return whether to delete an object that the owner no longer declares, unless `deletion_conflicts` yields a conflict.

        This is so if the owner declared the object before, and nobody else owns a part of it.
        """
        is_mine = ITSELF in self.owners.claims_of(self.declaration.owner).get(object_, {})
        return self.declaration.prune and is_mine and not any(self.owners.other_owners_within(self.declaration.owner, object_))

    def deletion_conflicts(self, object_: str, members: Members) -> Iterator[OwnershipConflict]:
        """Yield a conflict for each member that would be deleted with its object although this owner has not declared its value."""
        own = self.owners.claims_of(self.declaration.owner).get(object_)
        if own is None:
            yield OwnershipConflict(object_, ITSELF, [OUTSIDE], {}, None)
            return
        for member, value in members.items():
            if member not in {*_IMPLICIT, *self.declaration.unowned} and not is_claimed(own.get(member), value):
                yield OwnershipConflict(object_, member, [OUTSIDE], value, None)

    def may_delete(self, conflicts: Sequence[OwnershipConflict]) -> bool:
        """Record the conflicts of a deletion, and return whether the object may be deleted: if there are none, or `force` resolves them."""
        for conflict in conflicts:
            self.record_conflict(conflict)
        return self.declaration.force or not conflicts
