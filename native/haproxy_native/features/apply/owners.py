"""Who owns which members of which objects, and the table that keeps it: beside the configuration, never in it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing.object_names import renamed
from haproxy_native.errors import Unusable

TABLES = Tables("owners", "CREATE TABLE owner (name TEXT PRIMARY KEY, claims TEXT NOT NULL, former TEXT NOT NULL)")
# The member that stands for the object itself.
ITSELF = ""
# By object and member, the digest of the value that was declared last.
Claims = Mapping[str, Mapping[str, str]]
# Of one owner whose changes wait for reload after reload.
MOST_FORMER = 4


def digest(value: Any) -> str:
    """Returns the digest of a JSON value, in which contents of files are bytes."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_of_content)
    return hashlib.sha256(written.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _of_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_of(claim: str | None, value: Any) -> bool:
    """Whether a value is one that was declared: while a change is made there are two."""
    return claim is not None and not {digest(value), digest(without_comments(value))}.isdisjoint(claim.split(","))


def is_same(there: Any, declared: Any) -> bool:
    """Whether a value is as declared; comments of people behind the lines of a list do not matter where none are declared."""
    return declared in (there, without_comments(there))


def without_comments(value: Any) -> Any:
    """Returns a list without what is shown of comments behind its lines."""
    return [_without_comment(row) if isinstance(row, dict) else row for row in value] if isinstance(value, list) else value


def _without_comment(row: dict[str, Any]) -> dict[str, Any]:
    shown = row.get("metadata")
    return {name: each for name, each in row.items() if name != "metadata"} if isinstance(shown, dict) and [*shown] == ["comment"] else row


@dataclass(frozen=True)
class Wait:
    """What decides whether a change stays: the reload that loads this `version`, and the `confirmation` of the change. With neither the
    commit is still at work, or was cut off.
    """

    reload: str = ""
    confirmation: str = ""
    version: int = 0


AT_WORK = Wait()


@dataclass(frozen=True)
class Former:
    """Claims that were replaced by a change which may still go back, and hold again if it does."""

    claims: Claims
    wait: Wait


@dataclass(frozen=True)
class Owners:
    """The claims of each owner, and `former` ones, the oldest first. Immutable."""

    claims: Mapping[str, Claims] = field(default_factory=dict)
    former: Mapping[str, Sequence[Former]] = field(default_factory=dict)

    def of(self, owner: str) -> Claims:
        """What an owner may take for its own: what it has declared last, and what may still become of that."""
        found = self.claims.get(owner, {})
        for each in reversed(self.former.get(owner, ())):
            found = _both(each.claims, found)
        return found

    def replacing(self, former: "Owners", wait: Wait) -> "Owners":
        """Returns the owners with the claims that these have replaced."""
        found = dict(self.former)
        for owner in dict.fromkeys([*former.claims, *self.claims]):
            before = former.claims.get(owner, {})
            if before != self.claims.get(owner, {}):
                first, *others = *found.get(owner, ()), Former(before, wait)
                found[owner] = (first, *others[1 - MOST_FORMER :])
        return Owners(self.claims, found)

    def settled(self, lasts: Callable[[Wait], bool | None]) -> "Owners":
        """These themselves, or without what is decided by now: `lasts` says whether a change stays, None where that is not known yet."""
        found = self
        for owner in self.former:
            found = found._settled(owner, lasts)
        return found

    def _settled(self, owner: str, lasts: Callable[[Wait], bool | None]) -> "Owners":
        """A change that was made after one that has gone back may have kept what that had replaced."""
        former, last = list(self.former[owner]), self.claims.get(owner, {})
        while former and (stays := lasts(former[0].wait)) is not None:
            gone = former.pop(0)
            if stays:
                continue
            last = _known_both(gone.claims, last) if former else gone.claims
            former[1:] = [replace(each, claims=_known_both(gone.claims, each.claims)) for each in former[1:]]
            former[:1] = [replace(each, claims=gone.claims) for each in former[:1]]
        if len(former) == len(self.former[owner]):
            return self
        return Owners(_with(self.claims, owner, last), _with(self.former, owner, tuple(former)))

    def undecided(self) -> "Owners":
        """Returns the owners after a restart, when a commit in progress may have been made or not."""
        found = self
        for owner in [owner for owner, former in self.former.items() if any(each.wait == AT_WORK for each in former)]:
            found = Owners(_with(found.claims, owner, found.of(owner)), _with(found.former, owner, ()))
        return found

    def others(self, owner: str, object_: str, member: str) -> list[str]:
        """Other owners of a member."""
        return [other for other, claims in self.claims.items() if other != owner and member in claims.get(object_, {})]

    def within(self, owner: str, object_: str) -> Iterator[tuple[str, str]]:
        """Other owners of an object, or of what stands in it, and what each owns."""
        for other, claims in self.claims.items():
            if other != owner:
                yield from ((other, claim) for claim in claims if claim == object_ or claim.startswith(f"{object_}/"))

    def renamed(self, object_: str, to: str) -> "Owners":
        """Returns the owners with the claims to an object, and to what it contains, under its new name."""
        return replace(self, claims={owner: _renamed(known, object_, to) for owner, known in self.claims.items()})

    def with_claims(self, owner: str, claims: Claims, taken: Mapping[str, set[tuple[str, str]]]) -> "Owners":
        """Returns the owners with one owner's claims replaced; without the (object, member) pairs that are `taken` from others."""
        others = {other: _without(held, taken.get(other, set())) for other, held in self.claims.items() if other != owner}
        return Owners({name: held for name, held in {**others, owner: claims}.items() if held}, self.former)


def _renamed(claims: Claims, object_: str, to: str) -> Claims:
    return {renamed(each, object_, to): held for each, held in claims.items()}


def _with(known: Mapping[str, Any], owner: str, value: Any) -> dict[str, Any]:
    return {name: each for name, each in {**known, owner: value}.items() if each}


def _both(former: Claims, now: Claims) -> Claims:
    """Returns the claims of both; a member in both has both digests."""
    return {each: {**former.get(each, {}), **held} for each, held in {**former, **_known_both(former, now)}.items()}


def _known_both(former: Claims, now: Claims) -> Claims:
    """Returns the present claims, each with both digests."""
    return {object_: _digests(former.get(object_, {}), held) for object_, held in now.items()}


def _digests(former: Mapping[str, str], now: Mapping[str, str]) -> Mapping[str, str]:
    both = {member: (*former.get(member, "").split(","), *digest_.split(",")) for member, digest_ in now.items()}
    return {member: ",".join(filter(None, dict.fromkeys(digests))) for member, digests in both.items()}


def _without(claims: Claims, taken: set[tuple[str, str]]) -> Claims:
    if not taken:
        return claims
    left = {
        object_: {member: value for member, value in held.items() if (object_, member) not in taken} for object_, held in claims.items()
    }
    return {object_: held for object_, held in left.items() if held}


class OwnerTable:
    """`owners` as the database has them. If that cannot be read it raises Unusable: what is owned would be taken for what nobody owns."""

    def __init__(self, database: Database) -> None:
        database.declare(TABLES)
        self._database = database
        self._stored: Owners | None = None
        self._owners = Owners()
        with suppress(Unusable):
            self._read()

    @property
    def owners(self) -> Owners:
        if self._stored is None:
            self._read()
        return self._owners

    def note(self, owners: Owners) -> None:
        """Changes memory alone: what follows from what is stored and from what is known otherwise."""
        self._owners = owners

    async def write(self, owners: Owners) -> None:
        """On disk when this returns. Raises Unusable."""
        await self._database.store(partial(_store, self._stored or Owners(), owners))
        self._owners = self._stored = owners

    def _read(self) -> None:
        self._stored = self._database.read(_read)
        self._owners = self._stored.undecided()


def _read(state: State) -> Owners:
    rows = [(owner, json.loads(claims), json.loads(former)) for owner, claims, former in state.execute("SELECT * FROM owner")]
    former = {owner: tuple(Former(each["claims"], Wait(**each["wait"])) for each in former) for owner, _, former in rows if former}
    return Owners({owner: claims for owner, claims, _ in rows if claims}, former)


def _store(before: Owners, after: Owners, state: State) -> None:
    """Replaces the rows of the owners that differ."""
    rows, former = ({owner: _row(owners, owner) for owner in (*owners.claims, *owners.former)} for owners in (after, before))
    with state.transaction():
        state.executemany("DELETE FROM owner WHERE name = ?", [(owner,) for owner in former if owner not in rows])
        changed = [(owner, *row) for owner, row in rows.items() if row != former.get(owner)]
        state.executemany("INSERT OR REPLACE INTO owner VALUES (?, ?, ?)", changed)


def _row(owners: Owners, owner: str) -> tuple[str, str]:
    former = [{"claims": each.claims, "wait": asdict(each.wait)} for each in owners.former.get(owner, ())]
    return json.dumps(owners.claims.get(owner, {})), json.dumps(former)
