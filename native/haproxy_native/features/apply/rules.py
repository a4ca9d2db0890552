"""Decides what an owner may set and delete, from what it and others have declared before. Pure.

A member that differs from the declaration is set if nobody else owns it, and if it is unset or still has the value that this owner
declared last. Any other difference is a conflict: with the owners of the member, or with OUTSIDE if somebody changed it by hand or by
another call. `force` resolves conflicts in favour of the declaration.

An object that the owner no longer declares is deleted if the owner declared it before, nobody else owns it or anything in it, and every
member still has the value that the owner declared.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.editing.editor import Object
from haproxy_native.features.apply.owners import ITSELF, Claims, Owners, digest, is_of
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text.section import Section as TextSection

# A collection and a name in it; the name of the global section is empty.
Section = tuple[str, str]
Members = Mapping[str, Any]
# Undeclared members that do not prevent the deletion of their object. A section may have its `from` implicitly, from its position.
_OF_ITSELF = ("from", "metadata")


@dataclass(frozen=True)
class DeclaredFile:
    """A declared file: a map with `entries` by key, any other with `content`. A map that was sent as a file has both."""

    content: bytes | None = field(default=None, repr=False)
    entries: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Declaration:
    """What an owner declares: whole sections and files."""

    owner: str
    sections: Mapping[Section, Object]
    # By object name, as in `map/hosts.map`.
    files: Mapping[str, DeclaredFile] = field(default_factory=dict)
    # Whether to delete what the owner no longer declares.
    prune: bool = True
    # Whether to take what others own.
    force: bool = False
    # Members that are set when an object is created, and left to others from then on.
    unowned: Collection[str] = ()
    # The texts of declared sections.
    texts: Mapping[Section, TextSection] = field(default_factory=dict)
    author: Author = field(kw_only=True)


@dataclass(frozen=True)
class OwnershipConflict:
    """A member that others own or have set; if `member` is empty, the object itself.

    `theirs` is the present value, None if it is unset. `mine` is the declared value, None if the member is to be deleted.
    """

    object: str
    member: str
    owners: Sequence[str]
    theirs: Any
    mine: Any


@dataclass
class Rules:
    """The rules for one declaration. They collect its conflicts, those resolved by force in `taken`, and the owner's new claims."""

    owners: Owners
    declaration: Declaration
    conflicts: list[OwnershipConflict] = field(default_factory=list)
    taken: list[OwnershipConflict] = field(default_factory=list)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def owners_after(self) -> Owners:
        """Return who owns what after the declaration."""
        return self.owners.with_claims(self.declaration.owner, self._kept_claims(), self._taken_from())

    def claim(self, object_: str, member: str, value: Any) -> None:
        self.claims.setdefault(object_, {})[member] = digest(value)

    def may(self, object_: str, member: str, there: Any, mine: Any) -> bool:
        """Return whether a member may be set; if not, record the conflict."""
        others = self.owners.others(self.declaration.owner, object_, member)
        if not others and (there is None or is_of(self.owners.of(self.declaration.owner).get(object_, {}).get(member), there)):
            return True
        return self.clashes(OwnershipConflict(object_, member, others or [OUTSIDE], there, mine))

    def clashes(self, conflict: OwnershipConflict) -> bool:
        """Record a conflict, and return whether it is resolved by force."""
        (self.taken if self.declaration.force else self.conflicts).append(conflict)
        return self.declaration.force

    def is_mine_alone(self, object_: str, member: str, former: str, there: Any) -> bool:
        """Return whether to delete a member that is no longer declared: only if nobody else owns it or has changed it."""
        return self.declaration.prune and not self.owners.others(self.declaration.owner, object_, member) and is_of(former, there)

    def is_abandoned(self, object_: str) -> bool:
        """Return whether to delete an object that is no longer declared: if this owner declared it, and nobody else owns any of it."""
        is_mine = ITSELF in self.owners.of(self.declaration.owner).get(object_, {})
        return self.declaration.prune and is_mine and not any(self.owners.within(self.declaration.owner, object_))

    def foreign(self, object_: str, members: Members) -> Iterator[OwnershipConflict]:
        """Yield a conflict for each member that would be deleted with its object, and whose value this owner has not declared."""
        own = self.owners.of(self.declaration.owner).get(object_)
        if own is None:
            yield OwnershipConflict(object_, ITSELF, [OUTSIDE], {}, None)
            return
        for member, value in members.items():
            if member not in {*_OF_ITSELF, *self.declaration.unowned} and not is_of(own.get(member), value):
                yield OwnershipConflict(object_, member, [OUTSIDE], value, None)

    def may_delete(self, foreign: Sequence[OwnershipConflict]) -> bool:
        """Return whether an object with these foreign members may be deleted; if not, record the conflicts."""
        for member in foreign:
            self.clashes(member)
        return self.declaration.force or not foreign

    def _kept_claims(self) -> Claims:
        """Return the new claims; without pruning, the former ones as well."""
        if self.declaration.prune:
            return self.claims
        former = self.owners.claims.get(self.declaration.owner, {})
        return {object_: {**former.get(object_, {}), **self.claims.get(object_, {})} for object_ in dict.fromkeys([*former, *self.claims])}

    def _taken_from(self) -> dict[str, set[tuple[str, str]]]:
        taken: dict[str, set[tuple[str, str]]] = {}
        for conflict in self.taken:
            for owner in conflict.owners:
                taken.setdefault(owner, set()).add((conflict.object, conflict.member))
        return taken
