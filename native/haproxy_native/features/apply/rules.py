"""Whose what is: what an owner may set and delete, by what it and others have declared before. Pure."""

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
# An object that goes takes these with it, even if they are not as its owner has declared them: a section may have its `from` by its place.
_OF_ITSELF = ("from", "metadata")


@dataclass(frozen=True)
class DeclaredFile:
    """A map has `entries`, by their keys; any other file `content`. Of a map that was sent as a file that is what a new one holds."""

    content: bytes | None = field(default=None, repr=False)
    entries: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Declaration:
    """`sections`: whole objects; `files` by their objects, as in `map/hosts.map`. Without `prune` nothing is deleted. `force` takes what
    others own. `unowned` members are given to objects that are made, and left to others from then on. `texts` are the sections that were
    sent as text. `author`: who makes the change.
    """

    owner: str
    sections: Mapping[Section, Object]
    files: Mapping[str, DeclaredFile] = field(default_factory=dict)
    prune: bool = True
    force: bool = False
    unowned: Collection[str] = ()
    texts: Mapping[Section, TextSection] = field(default_factory=dict)
    author: Author = field(kw_only=True)


@dataclass(frozen=True)
class Conflict:
    """`theirs` is None where it is not set, `mine` where it is to go. Without a `member` the object is meant."""

    object: str
    member: str
    owners: Sequence[str]
    theirs: Any
    mine: Any


@dataclass
class Rules:
    """The rules of one declaration and their results: `conflicts`, what was `taken` by force, and the owner's new `claims`."""

    owners: Owners
    asked: Declaration
    conflicts: list[Conflict] = field(default_factory=list)
    taken: list[Conflict] = field(default_factory=list)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def owners_then(self) -> Owners:
        """Who owns what when it is done."""
        return self.owners.with_claims(self.asked.owner, self._kept_claims(), self._taken_from())

    def claim(self, object_: str, member: str, value: Any) -> None:
        self.claims.setdefault(object_, {})[member] = digest(value)

    def may(self, object_: str, member: str, there: Any, mine: Any) -> bool:
        """Whether a member may be set; a conflict is noted where it may not."""
        others = self.owners.others(self.asked.owner, object_, member)
        if not others and (there is None or is_of(self.owners.of(self.asked.owner).get(object_, {}).get(member), there)):
            return True
        return self.clashes(Conflict(object_, member, others or [OUTSIDE], there, mine))

    def clashes(self, conflict: Conflict) -> bool:
        """Whether it is taken by force."""
        (self.taken if self.asked.force else self.conflicts).append(conflict)
        return self.asked.force

    def is_mine_alone(self, object_: str, member: str, former: str, there: Any) -> bool:
        """Whether a member that is no longer declared goes: what others own or have changed stays."""
        return self.asked.prune and not self.owners.others(self.asked.owner, object_, member) and is_of(former, there)

    def is_given_up(self, object_: str) -> bool:
        """Whether a named child goes: the owner declared it before, and nobody else does."""
        is_mine = ITSELF in self.owners.of(self.asked.owner).get(object_, {})
        return self.asked.prune and is_mine and not any(self.owners.within(self.asked.owner, object_))

    def strange(self, object_: str, members: Members) -> Iterator[Conflict]:
        """What goes with an object and is not as this owner has declared it."""
        own = self.owners.of(self.asked.owner).get(object_)
        if own is None:
            yield Conflict(object_, ITSELF, [OUTSIDE], {}, None)
            return
        for member, value in members.items():
            if member not in {*_OF_ITSELF, *self.asked.unowned} and not is_of(own.get(member), value):
                yield Conflict(object_, member, [OUTSIDE], value, None)

    def all_go(self, strange: Sequence[Conflict]) -> bool:
        for member in strange:
            self.clashes(member)
        return self.asked.force or not strange

    def _kept_claims(self) -> Claims:
        """Returns the former claims, which stay without pruning."""
        if self.asked.prune:
            return self.claims
        former = self.owners.claims.get(self.asked.owner, {})
        return {object_: {**former.get(object_, {}), **self.claims.get(object_, {})} for object_ in dict.fromkeys([*former, *self.claims])}

    def _taken_from(self) -> dict[str, set[tuple[str, str]]]:
        taken: dict[str, set[tuple[str, str]]] = {}
        for conflict in self.taken:
            for owner in conflict.owners:
                taken.setdefault(owner, set()).add((conflict.object, conflict.member))
        return taken
