"""Decide what a declaration sets and deletes, from what its owner and others have declared before. Pure.

A declared member that differs from the present value is set if nobody else owns it, and if it is unset or still has the value that this
owner declared last. Otherwise there is a conflict: with the owners of the member, or with OUTSIDE if somebody has changed it by hand or by
another API call. `force` resolves all conflicts in favor of the declaration.

An object that the owner no longer declares is deleted if the owner declared it before and nobody else owns any part of it. A member with
another value than the owner declared last is a conflict.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.editing.editor import Object
from haproxy_native.features.apply.owners import ITSELF, Claims, Owners, digest, is_claimed
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
    # Members that the owner does not claim: they are set only when their object is created.
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
    """The rules for one declaration. Collects its conflicts, with those resolved by force in `taken`, and the new claims of its owner."""

    owners: Owners
    declaration: Declaration
    conflicts: list[OwnershipConflict] = field(default_factory=list)
    taken: list[OwnershipConflict] = field(default_factory=list)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def owners_after(self) -> Owners:
        """Return the owners after the declaration was carried out."""
        return self.owners.with_claims(self.declaration.owner, self._new_claims(), self._lost_claims())

    def claim(self, object_: str, member: str, value: Any) -> None:
        """Add a claim of the owner for a declared value."""
        self.claims.setdefault(object_, {})[member] = digest(value)

    def may_set(self, object_: str, member: str, there: Any, mine: Any) -> bool:
        """Return whether a member may be changed from `there` to `mine`. Records a conflict otherwise, which `force` resolves."""
        others = self.owners.other_owners(self.declaration.owner, object_, member)
        if not others and (there is None or is_claimed(self.owners.claims_of(self.declaration.owner).get(object_, {}).get(member), there)):
            return True
        return self.record_conflict(OwnershipConflict(object_, member, others or [OUTSIDE], there, mine))

    def record_conflict(self, conflict: OwnershipConflict) -> bool:
        """Record a conflict, and return whether it is resolved by force."""
        (self.taken if self.declaration.force else self.conflicts).append(conflict)
        return self.declaration.force

    def may_unset(self, object_: str, member: str, former: str, there: Any) -> bool:
        """Return whether to delete a member that is no longer declared: if nobody else owns it, and `there` is the claimed value."""
        return (
            self.declaration.prune and not self.owners.other_owners(self.declaration.owner, object_, member) and is_claimed(former, there)
        )

    def is_abandoned(self, object_: str) -> bool:
        """Return whether to delete an object that is no longer declared: if this owner has declared it, and no other owns a part of it."""
        is_mine = ITSELF in self.owners.claims_of(self.declaration.owner).get(object_, {})
        return self.declaration.prune and is_mine and not any(self.owners.other_owners_within(self.declaration.owner, object_))

    def undeclared(self, object_: str, members: Members) -> Iterator[OwnershipConflict]:
        """Yield a conflict for each member whose value this owner has not declared, and which would be deleted with its object."""
        own = self.owners.claims_of(self.declaration.owner).get(object_)
        if own is None:
            yield OwnershipConflict(object_, ITSELF, [OUTSIDE], {}, None)
            return
        for member, value in members.items():
            if member not in {*_IMPLICIT, *self.declaration.unowned} and not is_claimed(own.get(member), value):
                yield OwnershipConflict(object_, member, [OUTSIDE], value, None)

    def may_delete(self, conflicts: Sequence[OwnershipConflict]) -> bool:
        """Return whether an object with these conflicts may be deleted, and record them."""
        for member in conflicts:
            self.record_conflict(member)
        return self.declaration.force or not conflicts

    def _new_claims(self) -> Claims:
        """Return the new claims of the owner. Without `prune`, they include its former ones."""
        if self.declaration.prune:
            return self.claims
        former = self.owners.claims.get(self.declaration.owner, {})
        return {object_: {**former.get(object_, {}), **self.claims.get(object_, {})} for object_ in dict.fromkeys([*former, *self.claims])}

    def _lost_claims(self) -> dict[str, set[tuple[str, str]]]:
        """Return the pairs of object and member that each other owner loses."""
        taken: dict[str, set[tuple[str, str]]] = {}
        for conflict in self.taken:
            for owner in conflict.owners:
                taken.setdefault(owner, set()).add((conflict.object, conflict.member))
        return taken
